/**
 * The graph of a job as SVG. What is in sight is drawn once, and then only its numbers and colours change; what is not in sight
 * is not in the document, since a browser lays out and paints all that is: a second and more for a thousand vertices.
 */

import { drawn, setAttribute, setShare, setText } from "./dom.js";
import { byteRate, number, rate, share } from "./format.js";
import { layout } from "./layout.js";

const WIDTH = 224;
const HEIGHT = 84;
const GAP_X = 118;
const GAP_Y = 30;
const MARGIN = 20;
const LETTERS = 24;
const METER = WIDTH - 24;
/** What is so near to what is in sight is drawn, too (in the drawing's own size), so that scrolling seldom draws. */
const NEAR = 500;
/** Below this part of its size nobody can read the texts of the drawing. */
const READABLE = 0.5;
/** From so many vertices on colours change at once, and boxes throw no shadows. */
const MANY = 100;

/**
 * @typedef {{id: string, name: string, parallelism: number, inputs: {id: string, how: string}[]}} Vertex
 * @typedef {{x: number, y: number, width: number, height: number}} Area
 * @typedef {{id: string, records_in: number|null, records_out: number|null, bytes_in: number|null,
 *   bytes_out: number|null, busy: number|null, backpressured: number|null}} Flow
 */
export class Graph {
  /** @param {Vertex[]} vertices @param {(id: string) => void} onOpen is called for a vertex that was clicked */
  constructor(vertices, onOpen) {
    const inputs = vertices.map((vertex) => ({ id: vertex.id, inputs: vertex.inputs.map((input) => input.id) }));
    this.places = layout(inputs);
    /** @type {Map<string, Flow>} */
    this.flows = new Map();
    this.bottleneck = null;
    this.part = 1;
    /** @type {Area|null} what is drawn */
    this.area = null;
    this.readers = new Map();
    for (const input of inputs.flatMap((vertex) => vertex.inputs)) this.readers.set(input, (this.readers.get(input) ?? 0) + 1);
    const boxes = vertices.map((vertex) => ({ area: this.#areaOf(vertex.id), make: (readable) => new Box(vertex, this.#areaOf(vertex.id), onOpen, readable) }));
    const arrows = vertices.flatMap((vertex) => vertex.inputs.filter((input) => this.places.has(input.id)).map((input) => this.#arrow(input, vertex)));
    this.layers = [new Layer(arrows), new Layer(boxes)];
    this.node = this.#whole();
  }

  /**
   * Show new numbers.
   * @param {Flow[]} flows
   * @param {string|null} bottleneck the id of the vertex that holds the job back
   */
  update(flows, bottleneck) {
    this.flows = new Map(flows.map((flow) => [flow.id, flow]));
    this.bottleneck = bottleneck;
    for (const layer of this.layers) layer.update(this);
  }

  /** Show the drawing at a part of its size. */
  scale(part) {
    if ((this.part < READABLE) !== (part < READABLE)) for (const layer of this.layers) layer.clear();
    [this.part, this.area] = [part, null];
    setAttribute(this.node, "width", Math.round(this.width * part));
    setAttribute(this.node, "height", Math.round(this.height * part));
  }

  /** Draw what is in sight. @param {Area} sight the part of the drawing that is seen, at its present size */
  look(sight) {
    const [x, y, width, height] = [sight.x, sight.y, sight.width, sight.height].map((length) => length / this.part);
    const { area } = this;
    if (area !== null && x >= area.x && y >= area.y && x + width <= area.x + area.width && y + height <= area.y + area.height) return;
    this.area = { x: x - NEAR, y: y - NEAR, width: width + 2 * NEAR, height: height + 2 * NEAR };
    for (const layer of this.layers) layer.show(this.area, this.part >= READABLE, this);
  }

  /**
   * What an arrow carries is what its reader reads, if that has no other input; what its sender sends, if nobody else gets of it;
   * and otherwise at most that.
   * @returns {{records: string, bytes: string}}
   */
  carried(from, to, isOnlyInput) {
    const [sender, reader] = [this.flows.get(from), this.flows.get(to)];
    if (isOnlyInput) return { records: rate(reader?.records_in), bytes: exchanged(reader?.bytes_in, byteRate) };
    return { records: this.#atMost(from, sender?.records_out, rate), bytes: exchanged(sender?.bytes_out, (sent) => this.#atMost(from, sent, byteRate)) };
  }

  #atMost(sender, sent, format) {
    return this.readers.get(sender) > 1 && (sent ?? null) !== null ? `≤ ${format(sent)}` : format(sent);
  }

  #areaOf(id) {
    const { column, row } = this.places.get(id);
    return { x: MARGIN + column * (WIDTH + GAP_X), y: MARGIN + row * (HEIGHT + GAP_Y), width: WIDTH, height: HEIGHT };
  }

  #arrow(input, vertex) {
    const [from, to] = [this.#areaOf(input.id), this.#areaOf(vertex.id)];
    const ends = { x: from.x + WIDTH, y: from.y + HEIGHT / 2, toX: to.x, toY: to.y + HEIGHT / 2 };
    const area = { x: Math.min(from.x, to.x), y: Math.min(from.y, to.y), width: Math.abs(to.x - from.x) + WIDTH, height: Math.abs(to.y - from.y) + HEIGHT };
    return { area, make: (readable) => new Arrow(input, vertex, ends, readable) };
  }

  #whole() {
    const places = [...this.places.values()];
    const columns = 1 + places.reduce((most, place) => Math.max(most, place.column), 0);
    const rows = 1 + places.reduce((most, place) => Math.max(most, place.row), 0);
    [this.width, this.height] = [2 * MARGIN + columns * (WIDTH + GAP_X) - GAP_X, 2 * MARGIN + rows * (HEIGHT + GAP_Y) - GAP_Y];
    const tip = drawn("path", { d: "M0 0 L8 4 L0 8 z", class: "tip" });
    const marker = { id: "head", viewBox: "0 0 8 8", refX: 4, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" };
    const what = `The graph of ${places.length} vertices. The table below has the same numbers.`;
    const about = { class: places.length < MANY ? "graph" : "graph many", role: "img", "aria-label": what };
    const size = { width: this.width, height: this.height, viewBox: `0 0 ${this.width} ${this.height}` };
    return drawn("svg", { ...about, ...size }, drawn("defs", {}, drawn("marker", marker, tip)), ...this.layers.map((layer) => layer.node));
  }
}

/** Parts of the drawing, of which those that are near to what is in sight are in the document. */
class Layer {
  /** @param {{area: Area, make: (readable: boolean) => {node: Element, update: (graph: Graph) => void}}[]} parts */
  constructor(parts) {
    this.parts = parts;
    this.shown = new Map();
    this.node = drawn("g");
  }

  show(area, readable, graph) {
    for (const part of this.parts) {
      const known = this.shown.get(part);
      if (meet(part.area, area)) {
        if (known === undefined) this.#add(part, readable, graph);
      } else if (known !== undefined) {
        known.node.remove();
        this.shown.delete(part);
      }
    }
  }

  update(graph) {
    for (const view of this.shown.values()) view.update(graph);
  }

  clear() {
    this.node.replaceChildren();
    this.shown.clear();
  }

  #add(part, readable, graph) {
    const view = part.make(readable);
    view.update(graph);
    this.shown.set(part, view);
    this.node.append(view.node);
  }
}

class Arrow {
  constructor(input, vertex, { x, y, toX, toY }, readable) {
    this.input = input.id;
    this.vertex = vertex.id;
    this.isOnlyInput = vertex.inputs.length === 1;
    const bend = Math.max(30, Math.abs(toX - x) / 2);
    const middle = { class: "rate", x: (x + toX) / 2 - 3, "text-anchor": "middle" };
    const line = drawn("path", {
      class: "arrow",
      d: `M${x} ${y} C${x + bend} ${y} ${toX - bend} ${toY} ${toX - 6} ${toY}`,
      "marker-end": "url(#head)",
    });
    this.texts = readable ? [drawn("text", { ...middle, y: (y + toY) / 2 - 5 }), drawn("text", { ...middle, y: (y + toY) / 2 + 14 })] : [];
    this.node = drawn("g", {}, drawn("title", {}, input.how), line, ...this.texts);
  }

  update(graph) {
    if (this.texts.length === 0) return;
    const { records, bytes } = graph.carried(this.input, this.vertex, this.isOnlyInput);
    setText(this.texts[0], records);
    setText(this.texts[1], bytes);
  }
}

class Box {
  constructor(vertex, { x, y }, onOpen, readable) {
    this.id = vertex.id;
    this.frame = drawn("rect", { width: WIDTH, height: HEIGHT, rx: 9, class: "box" });
    this.held = drawn("rect", { x: 12, y: HEIGHT - 14, width: 0, height: 5, rx: 2.5, class: "held" });
    this.times = drawn("text", { x: 12, y: 44, class: "faint" });
    this.records = drawn("text", { x: 12, y: 61, class: "faint" });
    const track = drawn("rect", { x: 12, y: HEIGHT - 14, width: METER, height: 5, rx: 2.5, class: "track" });
    const texts = readable ? [...named(vertex), this.times, this.records] : [];
    this.node = drawn(
      "g",
      { transform: `translate(${x} ${y})`, on: { click: () => onOpen(vertex.id) } },
      ...[drawn("title", {}, vertex.name), this.frame, track, this.held, ...texts],
    );
  }

  update({ flows, bottleneck }) {
    const flow = flows.get(this.id) ?? {};
    setShare(this.frame, "--busy", flow.busy);
    setAttribute(this.held, "width", Math.round((flow.backpressured ?? 0) * METER));
    setAttribute(this.node, "class", this.id === bottleneck ? "vertex bottleneck" : "vertex");
    setText(this.times, `busy ${share(flow.busy)} · held back ${share(flow.backpressured)}`);
    setText(this.records, `in ${rate(flow.records_in)} · out ${rate(flow.records_out)}`);
  }
}

function named(vertex) {
  const name = drawn("text", { x: 12, y: 24, class: "name" }, shortened(vertex.name));
  const subtasks = drawn("text", { x: WIDTH - 12, y: 24, "text-anchor": "end", class: "faint" }, `×${number(vertex.parallelism)}`);
  const badge = drawn("text", { x: WIDTH / 2, y: -6, "text-anchor": "middle", class: "badge" }, "bottleneck");
  return [name, subtasks, badge];
}

/** Whether two areas have a part in common. */
function meet(one, other) {
  return one.x <= other.x + other.width && other.x <= one.x + one.width && one.y <= other.y + other.height && other.y <= one.y + one.height;
}

/** Records that stay in their task have no bytes. */
function exchanged(bytes, format) {
  return bytes > 0 ? format(bytes) : "";
}

function shortened(name) {
  return name.length <= LETTERS ? name : `${name.slice(0, LETTERS - 1)}…`;
}
