/** A flame graph: the widths of calls are their samples; who calls is above. */

import { drawn, element, setAttribute, setText } from "./dom.js";

const LEAST_WIDTH = 600;
const ROW = 20;
const LETTER = 6.7;
const NARROWEST = 1;

/**
 * @typedef {{name: string, value: number, children: Node[]}} Node
 * @typedef {{node: Node, depth: number, start: number, parent: Frame|null}} Frame
 */

/** Return the calls of a tree, outermost first, without those that are narrower than `least` samples. @param {Node} root */
export function framesOf(root, least = 0) {
  const frames = [];
  const waiting = [{ node: root, depth: 0, start: 0, parent: null }];
  while (waiting.length > 0) {
    const frame = waiting.pop();
    frames.push(frame);
    let start = frame.start;
    for (const child of frame.node.children) {
      if (child.value > least) waiting.push({ node: child, depth: frame.depth + 1, start, parent: frame });
      start += child.value;
    }
  }
  return frames;
}

/** Return the calls in which most samples were themselves, and not in what they called. @param {Node} root */
export function hottest(root, most) {
  const own = new Map();
  for (const { node } of framesOf(root)) {
    const called = node.children.reduce((sum, child) => sum + child.value, 0);
    own.set(node.name, (own.get(node.name) ?? 0) + node.value - called);
  }
  return [...own].filter(([, samples]) => samples > 0).sort((one, other) => other[1] - one[1]).slice(0, most);
}

/** Shows a tree. A call is zoomed by a click or, once the picture has the focus, by arrow keys and Enter. */
export class FlameGraph {
  constructor() {
    this.place = element("div");
    this.said = element("p", { class: "facts", role: "status" });
    const help = "Flame graph. Arrow keys go from call to call, Enter zooms, Escape shows all.";
    const picture = element("div", { class: "wide flame", tabindex: 0, role: "region", "aria-label": help, on: { keydown: (event) => this.#key(event) } }, this.place);
    this.node = element("div", {}, picture, this.said);
  }

  /** @param {Node} root */
  show(root) {
    this.root = root;
    this.#zoom(root);
  }

  /** Show a call, and what it calls, as wide as the picture. */
  #zoom(top) {
    const width = Math.max(LEAST_WIDTH, this.place.clientWidth);
    const scale = width / Math.max(1, top.value);
    this.frames = framesOf(top, NARROWEST / scale);
    this.shapes = new Map(this.frames.map((frame) => [frame, this.#shape(frame, scale)]));
    const height = ROW * (1 + Math.max(...this.frames.map((frame) => frame.depth)));
    const title = `${top.value} samples`;
    this.place.replaceChildren(
      drawn("svg", { class: "flames", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title }, ...this.shapes.values()),
    );
    this.#choose(this.frames[0]);
  }

  #shape(frame, scale) {
    const { node, depth, start } = frame;
    const width = node.value * scale;
    const letters = Math.floor((width - 6) / LETTER);
    const box = drawn("rect", { class: `flame-${toneOf(node.name)}`, x: start * scale, y: depth * ROW, width: Math.max(0.5, width - 0.5), height: ROW - 1, rx: 2 });
    const text = letters < 3 ? null : drawn("text", { x: start * scale + 4, y: depth * ROW + 14 }, shortened(node.name, letters));
    const zoom = () => this.#zoom(frame.parent === null ? this.root : node);
    return drawn("g", { on: { click: zoom, pointerenter: () => this.#choose(frame) } }, drawn("title", {}, this.#told(node)), box, text);
  }

  #told(node) {
    return `${node.name}: ${node.value} samples, ${((100 * node.value) / Math.max(1, this.root.value)).toFixed(1)} %`;
  }

  #choose(frame) {
    if (this.chosen !== undefined) setAttribute(this.shapes.get(this.chosen) ?? this.place, "class", null);
    this.chosen = frame;
    setAttribute(this.shapes.get(frame), "class", "chosen");
    setText(this.said, this.#told(frame.node));
  }

  #key(event) {
    const { chosen } = this;
    if (chosen === undefined) return;
    const row = this.frames.filter((frame) => frame.depth === chosen.depth).sort((one, other) => one.start - other.start);
    const at = row.indexOf(chosen);
    const next = {
      ArrowUp: () => chosen.parent,
      ArrowDown: () => this.frames.filter((frame) => frame.parent === chosen).sort((one, other) => other.node.value - one.node.value)[0],
      ArrowLeft: () => row[at - 1],
      ArrowRight: () => row[at + 1],
    }[event.key];
    if (next !== undefined) {
      const frame = next();
      if (frame) this.#choose(frame);
    } else if (event.key === "Enter") this.#zoom(chosen.node);
    else if (event.key === "Escape") this.#zoom(this.root);
    else return;
    event.preventDefault();
  }
}

/** The same tone for all calls of a module, whichever picture it is. */
function toneOf(name) {
  const module = name.replace(/[:(].*$/, "");
  let sum = 7;
  for (const letter of module) sum = (sum * 31 + letter.codePointAt(0)) % 65_521;
  return sum % 6;
}

/** Leave out the beginning: the end of a call's name says more. */
function shortened(name, letters) {
  return name.length <= letters ? name : `…${name.slice(1 - letters)}`;
}
