/** The graph of a job as SVG: drawn once, and then only its numbers and colours change. */

import { drawn, setAttribute, setText } from "./dom.js";
import { byteRate, number, rate, share } from "./format.js";
import { layout } from "./layout.js";

const WIDTH = 224;
const HEIGHT = 84;
const GAP_X = 118;
const GAP_Y = 30;
const MARGIN = 20;
const LETTERS = 24;
const METER = WIDTH - 24;

/**
 * @typedef {{id: string, name: string, parallelism: number, inputs: {id: string, how: string}[]}} Vertex
 * @typedef {{id: string, records_in: number|null, records_out: number|null, bytes_in: number|null,
 *   bytes_out: number|null, busy: number|null, backpressured: number|null}} Flow
 */
export class Graph {
  /** @param {Vertex[]} vertices @param {(id: string) => void} onOpen is called for a vertex that was clicked */
  constructor(vertices, onOpen) {
    const inputs = vertices.map((vertex) => ({ id: vertex.id, inputs: vertex.inputs.map((input) => input.id) }));
    this.places = layout(inputs);
    this.boxes = new Map(vertices.map((vertex) => [vertex.id, new Box(vertex, this.#corner(vertex.id), onOpen)]));
    this.labels = [];
    this.readers = new Map();
    for (const input of inputs.flatMap((vertex) => vertex.inputs)) this.readers.set(input, (this.readers.get(input) ?? 0) + 1);
    const arrows = vertices.flatMap((vertex) =>
      vertex.inputs.filter((input) => this.boxes.has(input.id)).map((input) => this.#arrow(input, vertex)),
    );
    this.node = this.#whole([...arrows, ...[...this.boxes.values()].map((box) => box.node)]);
  }

  /**
   * Show new numbers. What an arrow carries is what its reader reads, if that has no other input; what its sender sends, if
   * nobody else gets of it; and otherwise at most that.
   * @param {Flow[]} flows
   * @param {string|null} bottleneck the id of the vertex that holds the job back
   */
  update(flows, bottleneck) {
    const known = new Map(flows.map((flow) => [flow.id, flow]));
    for (const flow of flows) this.boxes.get(flow.id)?.update(flow, flow.id === bottleneck);
    for (const { records, bytes, from, to, isOnlyInput } of this.labels) {
      const [sender, reader] = [known.get(from), known.get(to)];
      if (isOnlyInput) {
        setText(records, rate(reader?.records_in));
        setText(bytes, exchanged(reader?.bytes_in, byteRate));
      } else {
        setText(records, this.#atMost(from, sender?.records_out, rate));
        setText(bytes, exchanged(sender?.bytes_out, (sent) => this.#atMost(from, sent, byteRate)));
      }
    }
  }

  /** Show the drawing at a part of its size. */
  scale(part) {
    setAttribute(this.node, "width", Math.round(this.width * part));
    setAttribute(this.node, "height", Math.round(this.height * part));
  }

  #atMost(sender, sent, format) {
    return this.readers.get(sender) > 1 && (sent ?? null) !== null ? `≤ ${format(sent)}` : format(sent);
  }

  #corner(id) {
    const { column, row } = this.places.get(id);
    return { x: MARGIN + column * (WIDTH + GAP_X), y: MARGIN + row * (HEIGHT + GAP_Y) };
  }

  #arrow(input, vertex) {
    const from = this.#corner(input.id);
    const to = this.#corner(vertex.id);
    const [x, y, toX, toY] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
    const bend = Math.max(30, Math.abs(toX - x) / 2);
    const middle = { class: "rate", x: (x + toX) / 2 - 3, "text-anchor": "middle" };
    const records = drawn("text", { ...middle, y: (y + toY) / 2 - 5 });
    const bytes = drawn("text", { ...middle, y: (y + toY) / 2 + 14 });
    this.labels.push({ records, bytes, from: input.id, to: vertex.id, isOnlyInput: vertex.inputs.length === 1 });
    const line = drawn("path", {
      class: "arrow",
      d: `M${x} ${y} C${x + bend} ${y} ${toX - bend} ${toY} ${toX - 6} ${toY}`,
      "marker-end": "url(#head)",
    });
    return drawn("g", {}, drawn("title", {}, input.how), line, records, bytes);
  }

  #whole(parts) {
    const places = [...this.places.values()];
    const width = 2 * MARGIN + (1 + Math.max(0, ...places.map((place) => place.column))) * (WIDTH + GAP_X) - GAP_X;
    const height = 2 * MARGIN + (1 + Math.max(0, ...places.map((place) => place.row))) * (HEIGHT + GAP_Y) - GAP_Y;
    [this.width, this.height] = [width, height];
    const tip = drawn("path", { d: "M0 0 L8 4 L0 8 z", class: "tip" });
    const marker = { id: "head", viewBox: "0 0 8 8", refX: 4, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" };
    const what = `The graph of ${places.length} vertices. The table below has the same numbers.`;
    return drawn(
      "svg",
      { class: "graph", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": what },
      drawn("defs", {}, drawn("marker", marker, tip)),
      ...parts,
    );
  }
}

class Box {
  constructor(vertex, { x, y }, onOpen) {
    this.frame = drawn("rect", { width: WIDTH, height: HEIGHT, rx: 9, class: "box" });
    this.held = drawn("rect", { x: 12, y: HEIGHT - 14, width: 0, height: 5, rx: 2.5, class: "held" });
    this.times = drawn("text", { x: 12, y: 44, class: "faint" });
    this.records = drawn("text", { x: 12, y: 61, class: "faint" });
    const name = drawn("text", { x: 12, y: 24, class: "name" }, shortened(vertex.name));
    const subtasks = drawn("text", { x: WIDTH - 12, y: 24, "text-anchor": "end", class: "faint" }, `×${number(vertex.parallelism)}`);
    const track = drawn("rect", { x: 12, y: HEIGHT - 14, width: METER, height: 5, rx: 2.5, class: "track" });
    const badge = drawn("text", { x: WIDTH / 2, y: -6, "text-anchor": "middle", class: "badge" }, "bottleneck");
    const parts = [drawn("title", {}, vertex.name), this.frame, track, this.held, name, subtasks, this.times, this.records, badge];
    this.node = drawn("g", { transform: `translate(${x} ${y})`, on: { click: () => onOpen(vertex.id) } }, ...parts);
  }

  update(flow, isBottleneck) {
    this.frame.style.setProperty("--busy", `${Math.round((flow.busy ?? 0) * 100)}%`);
    setAttribute(this.held, "width", Math.round((flow.backpressured ?? 0) * METER));
    setAttribute(this.node, "class", isBottleneck ? "vertex bottleneck" : "vertex");
    setText(this.times, `busy ${share(flow.busy)} · held back ${share(flow.backpressured)}`);
    setText(this.records, `in ${rate(flow.records_in)} · out ${rate(flow.records_out)}`);
  }
}

/** Records that stay in their task have no bytes. */
function exchanged(bytes, format) {
  return bytes > 0 ? format(bytes) : "";
}

function shortened(name) {
  return name.length <= LETTERS ? name : `${name.slice(0, LETTERS - 1)}…`;
}
