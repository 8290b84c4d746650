/** A picture of boxes with lines of text, and of arrows between them: plans, and the states of patterns. */

import { drawn, setText } from "./dom.js";
import { layout } from "./layout.js";

const LINE = 17;
const PAD = 11;
const MARGIN = 14;
const LOOP = 34;

/**
 * @typedef {{id: string, lines: string[], title?: string, kind?: string}} Item the first line is its name
 * @typedef {{from: string, to: string, text?: string, title?: string, kind?: string}} Arrow
 */
export class Boxes {
  /**
   * @param {Item[]} items all with as many lines @param {Arrow[]} arrows
   * @param {{label: string, width?: number, gap?: number}} about what a screen reader says, how wide a box is, and how far apart they are
   */
  constructor(items, arrows, { label, width = 220, gap = 96 }) {
    this.width = width;
    this.apart = gap;
    this.height = 2 * PAD + LINE * Math.max(...items.map((item) => item.lines.length));
    const known = new Set(items.map((item) => item.id));
    const there = arrows.filter((arrow) => known.has(arrow.from) && known.has(arrow.to));
    this.places = layout(items.map(({ id }) => ({ id, inputs: there.filter((arrow) => arrow.to === id && arrow.from !== id).map((arrow) => arrow.from) })));
    const rows = 1 + Math.max(...[...this.places.values()].map((place) => place.row));
    const columns = 1 + Math.max(...[...this.places.values()].map((place) => place.column));
    this.above = there.some((arrow) => this.#goesOver(arrow)) ? 2 * LOOP : MARGIN;
    this.gap = there.some((arrow) => arrow.from === arrow.to) ? LOOP + 22 : 26;
    this.boxes = new Map(items.map((item) => [item.id, this.#box(item)]));
    const beside = new Map();
    const lines = there.map((arrow) => {
      const pair = `${arrow.from} ${arrow.to}`;
      beside.set(pair, (beside.get(pair) ?? -1) + 1);
      return this.#arrow(arrow, beside.get(pair));
    });
    const wide = 2 * MARGIN + columns * (width + this.apart) - this.apart;
    const high = this.above + this.gap + rows * (this.height + this.gap);
    this.node = drawn(
      "svg",
      { class: "boxes", width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": label },
      drawn("defs", {}, marker()),
      ...lines,
      ...[...this.boxes.values()].map((box) => box.node),
    );
  }

  /** Give a line of a box another text. */
  setLine(id, line, text) {
    setText(this.boxes.get(id).lines[line], text);
  }

  /** Shade a box. @param {number} share from 0 to 1 */
  shade(id, share) {
    this.boxes.get(id).frame.style.setProperty("--busy", `${Math.round(share * 100)}%`);
  }

  #corner(id) {
    const { column, row } = this.places.get(id);
    return { x: MARGIN + column * (this.width + this.apart), y: this.above + this.gap + row * (this.height + this.gap) };
  }

  #box({ id, lines, title, kind }) {
    const { x, y } = this.#corner(id);
    const frame = drawn("rect", { width: this.width, height: this.height, rx: 7, class: "box" });
    const texts = lines.map((line, place) => drawn("text", { x: PAD, y: PAD + 12 + place * LINE, class: place === 0 ? "name" : null }, line));
    const node = drawn("g", { class: kind ?? null, transform: `translate(${x} ${y})` }, drawn("title", {}, title ?? lines.join("\n")), frame, ...texts);
    return { node, frame, lines: texts };
  }

  #goesOver({ from, to }) {
    const [one, other] = [this.places.get(from), this.places.get(to)];
    return from !== to && (other.column <= one.column || (other.column > one.column + 1 && one.row === other.row));
  }

  #arrow(arrow, beside) {
    const [from, to] = [this.#corner(arrow.from), this.#corner(arrow.to)];
    const shift = beside * 16;
    const middle = this.height / 2 + shift;
    let d;
    let label;
    if (arrow.from === arrow.to) {
      const [left, right, top] = [from.x + this.width * 0.3 - shift, from.x + this.width * 0.7 + shift, from.y - LOOP - shift];
      d = `M${left} ${from.y} C${left} ${top} ${right} ${top} ${right} ${from.y - 5}`;
      label = { x: from.x + this.width / 2, y: from.y - LOOP * 0.75 - shift - 5, anchor: "middle" };
    } else if (this.#goesOver(arrow)) {
      const [start, end] = [from.x + this.width * 0.9, to.x + this.width * 0.1];
      const top = Math.min(from.y, to.y) - 2 * LOOP - shift;
      d = `M${start} ${from.y} C${start} ${top} ${end} ${top} ${end} ${to.y - 5}`;
      label = { x: (start + end) / 2, y: Math.min(from.y, to.y) - LOOP * 1.5 - shift - 5, anchor: "middle" };
    } else {
      const [x, y, toX, toY] = [from.x + this.width, from.y + middle, to.x - 5, to.y + middle];
      const bend = Math.max(24, (toX - x) / 2);
      d = `M${x} ${y} C${x + bend} ${y} ${toX - bend} ${toY} ${toX} ${toY}`;
      label = { x: toX - 6, y: toY - 6, anchor: "end" };
    }
    const parts = [drawn("path", { class: "arrow", d, "marker-end": "url(#tip)" })];
    if (arrow.text) parts.push(drawn("text", { class: "rate", x: label.x, y: label.y, "text-anchor": label.anchor }, arrow.text));
    return drawn("g", { class: arrow.kind ?? null }, drawn("title", {}, arrow.title ?? arrow.text ?? ""), ...parts);
  }
}

function marker() {
  const shape = { id: "tip", viewBox: "0 0 8 8", refX: 5, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto", markerUnits: "userSpaceOnUse" };
  return drawn("marker", shape, drawn("path", { d: "M0 0 L8 4 L0 8 z", class: "tip" }));
}

/** Break a text into so many lines of so many letters; what does not fit is cut off. */
export function wrapped(text, letters, lines) {
  const found = [];
  let left = text.trim();
  while (left !== "" && found.length < lines) {
    const last = found.length === lines - 1;
    if (left.length <= letters) found.push(left);
    else if (last) found.push(`${left.slice(0, letters - 1)}…`);
    else {
      const space = left.lastIndexOf(" ", letters);
      const at = space > letters / 3 ? space : letters;
      found.push(left.slice(0, at));
      left = left.slice(at).trim();
      continue;
    }
    break;
  }
  return [...found, ...Array(lines - found.length).fill("")];
}
