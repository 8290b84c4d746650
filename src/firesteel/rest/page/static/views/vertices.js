/** The graph of a job, and the same numbers as a table. */

import { path } from "../api.js";
import { element, KeyedList, meter, row, setText, table } from "../dom.js";
import { byteRate, duration, rate, share, watermark } from "../format.js";
import { Graph } from "../graph.js";

/** So many rows are updated in one frame. */
const AT_ONCE = 100;
const CLASSES = ["", ...Array(7).fill("number"), "", "number"];
const HEADS = ["Vertex", "Parallelism#", "Read#", "Sent#", "Bytes read#", "Bytes sent#", "Busy#", "Held back#", "Watermark", "Lag#"];
const ZOOMS = [0.25, 0.35, 0.5, 0.7, 1, 1.4];

export class Vertices {
  /** @param {import("../app.js").App} app @param {string} id @param {import("./job.js").Job} job */
  constructor(app, id, job) {
    this.app = app;
    this.id = id;
    this.job = job;
    this.shape = null;
    this.graph = null;
    this.zoom = ZOOMS.indexOf(1);
    const { node, body, fit } = table("Vertices", HEADS);
    this.fit = fit;
    this.place = element("div", { class: "wide canvas", tabindex: 0, role: "region", "aria-label": "Graph", on: { scroll: () => this.#look() } });
    new ResizeObserver(() => this.#look()).observe(this.place);
    this.rows = new KeyedList(body, (vertex) => this.#makeRow(vertex), updateRow, AT_ONCE);
    const zooming = (label, what, step) => element("button", { type: "button", class: "small", "aria-label": what, on: { click: () => this.#zoomBy(step) } }, label);
    const zooms = element("div", { class: "zooms", role: "group", "aria-label": "Size of the graph" }, zooming("−", "Smaller", -1), zooming("+", "Larger", 1));
    const legend = element(
      "p",
      { class: "legend" },
      element("span", { class: "swatch calm" }),
      "calm ",
      element("span", { class: "swatch hot" }),
      "busy ",
      element("span", { class: "swatch held-back" }),
      "held back ",
      element("span", { class: "swatch limit" }),
      "bottleneck",
    );
    this.node = element("div", {}, element("div", { class: "bar-of-tools" }, legend, zooms), this.place, node);
  }

  /** @param {object} flow what the server answers at /jobs/:id/flow */
  async update(flow, signal) {
    if (flow.shape !== this.shape) await this.#draw(flow, signal);
    if (flow.vertices === null || this.graph === null) return;
    this.fit(this.vertices.length);
    this.graph.update(flow.vertices, flow.bottleneck?.vertex ?? null);
    const known = new Map(flow.vertices.map((vertex) => [vertex.id, vertex]));
    this.rows.show(this.vertices.map((vertex) => ({ ...vertex, flow: known.get(vertex.id) ?? {} })), (vertex) => vertex.id);
  }

  async #draw(flow, signal) {
    this.vertices = await this.job.vertices(flow, signal);
    this.graph = new Graph(this.vertices, (vertex) => {
      location.hash = this.#address(vertex);
    });
    this.place.replaceChildren(this.graph.node);
    this.#zoomBy(0);
    this.shape = flow.shape;
  }

  #zoomBy(step) {
    this.zoom = Math.min(ZOOMS.length - 1, Math.max(0, this.zoom + step));
    this.graph?.scale(ZOOMS[this.zoom]);
    this.#look();
  }

  /** Draw what has come into sight. */
  #look() {
    const { scrollLeft: x, scrollTop: y, clientWidth: width, clientHeight: height } = this.place;
    this.graph?.look({ x, y, width, height });
  }

  #address(vertex) {
    return path`#/jobs/${this.id}/graph/${vertex}`;
  }

  #makeRow(vertex) {
    const made = row(CLASSES);
    made.cells[0].append(element("a", { href: this.#address(vertex.id) }, vertex.name));
    return made;
  }
}

function updateRow({ cells }, { parallelism, flow }) {
  const texts = [
    parallelism,
    rate(flow.records_in),
    rate(flow.records_out),
    byteRate(flow.bytes_in),
    byteRate(flow.bytes_out),
    share(flow.busy),
    share(flow.backpressured),
    watermark(flow.watermark),
    duration(flow.lag),
  ];
  texts.forEach((text, place) => setText(cells[place + 1], text));
  meter(cells[6], flow.busy);
  meter(cells[7], flow.backpressured);
}
