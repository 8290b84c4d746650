/** A vertex of the graph: its subtasks and how unequal they are, its operators, and where its time goes. */

import { path } from "../api.js";
import { element, KeyedList, meter, row, setText, table, titled } from "../dom.js";
import { FlameGraph, hottest } from "../flame.js";
import { byteRate, bytes, counted, duration, moment, number, rate, share, UNKNOWN, watermark } from "../format.js";

const SUBTASK_HEADS = ["Subtask", "Key groups#", "Read#", "Sent#", "Bytes read#", "Bytes sent#", "Busy#", "Held back#", "Watermark", "Lag#", "State entries#", "State#"];
const OPERATOR_HEADS = ["Operator", "Line of the program", "Read#", "Sent#", "Busy#", "Watermark", "Lag#", "State entries#", "State#", "Changed#", "In memory#"];
/** What may be unequal, as it is called. */
const UNEQUAL = [
  ["records_in", "records read"],
  ["busy", "busy time"],
  ["state_entries", "entries of state"],
];
/** From here on subtasks are called unequal (percent of the average, as Flink counts it). */
const SKEWED = 20;
const SOON = 1000;
/** Only epochs that begin after the request are looked at: the one that runs must end first. */
const PATIENCE = 120_000;
const HOTTEST = 12;

export class Vertex {
  /** @param {import("../app.js").App} app @param {string} id @param {import("./job.js").Job} _job @param {string} vertex */
  constructor(app, id, _job, vertex) {
    this.app = app;
    this.address = path`jobs/${id}/vertices/${vertex}`;
    this.heading = element("h2", {}, "Vertex");
    this.skew = element("p", { class: "facts" });
    const subtasks = table("Subtasks", SUBTASK_HEADS);
    const operators = table("Operators", OPERATOR_HEADS);
    this.subtasks = new KeyedList(subtasks.body, () => row(classesOf(SUBTASK_HEADS)), updateSubtask);
    this.operators = new KeyedList(operators.body, () => row(classesOf(OPERATOR_HEADS)), updateOperator);
    this.fit = subtasks.fit;
    this.samples = new Samples(app, this.address);
    const back = element("a", { href: path`#/jobs/${id}/graph` }, "← Graph");
    this.node = element("div", {}, element("p", {}, back), this.heading, this.skew, subtasks.node, operators.node, this.samples.node);
  }

  async update(flow, signal) {
    if (flow.vertices === null) return;
    const found = await this.app.api.get(`${this.address}/flow`, signal);
    setText(this.heading, found.name);
    setText(this.skew, told(found.skew));
    this.fit(found.subtasks.length);
    this.subtasks.show(found.subtasks, (subtask) => subtask.subtask);
    this.operators.show(found.operators, (operator) => operator.id);
    this.samples.of(found.parallelism);
  }
}

function told(skew) {
  const known = UNEQUAL.filter(([name]) => skew[name] !== null);
  if (known.length === 0) return "";
  const parts = known.map(([name, words]) => `${words} ${Math.round(skew[name])} %`);
  const most = Math.max(...known.map(([name]) => skew[name]));
  return `${most >= SKEWED ? "Its subtasks are unequal" : "Its subtasks have about the same to do"}; mean distance from the average: ${parts.join(", ")}.`;
}

function classesOf(heads) {
  return heads.map((head) => (head.endsWith("#") ? "number" : ""));
}

function updateSubtask({ cells }, subtask) {
  const groups = subtask.key_groups;
  const texts = [
    subtask.subtask,
    groups === null ? UNKNOWN : groups[0] === groups[1] ? groups[0] : `${groups[0]} to ${groups[1]}`,
    rate(subtask.records_in),
    rate(subtask.records_out),
    byteRate(subtask.bytes_in),
    byteRate(subtask.bytes_out),
    share(subtask.busy),
    share(subtask.backpressured),
    watermark(subtask.watermark),
    duration(subtask.lag),
    number(subtask.state_entries),
    bytes(subtask.state_bytes),
  ];
  texts.forEach((text, place) => setText(cells[place], text));
  meter(cells[6], subtask.busy);
  meter(cells[7], subtask.backpressured);
}

function updateOperator({ cells }, operator) {
  const texts = [
    operator.name,
    operator.location,
    rate(operator.records_in),
    rate(operator.records_out),
    share(operator.busy),
    watermark(operator.watermark),
    duration(operator.lag),
    number(operator.state_entries),
    bytes(operator.state_bytes),
    bytes(operator.state_changed),
    bytes(operator.state_memory),
  ];
  texts.forEach((text, place) => setText(cells[place], text));
  meter(cells[4], operator.busy);
}

/** The flame graph of a vertex, of which samples are taken when somebody asks for them. */
class Samples {
  constructor(app, address) {
    this.app = app;
    this.address = address;
    this.kind = element("select", { on: { change: () => this.#guarded(() => this.#look()) } }, ...["full", "on_cpu", "off_cpu"].map((kind, place) => element("option", { value: kind }, ["All", "On the processor", "Waiting"][place])));
    this.subtask = element("select", { on: { change: () => this.#guarded(() => this.#look()) } }, element("option", { value: "" }, "All"));
    this.button = element("button", { type: "button", class: "primary", on: { click: () => this.#guarded(() => this.#take()) } }, "Show where time goes");
    this.about = element("p", { class: "facts", role: "status" }, "Samples of the calls in it are taken for 5 seconds; a minute later new ones can be taken.");
    this.graph = new FlameGraph();
    const { node, body } = table("Calls in which most samples were themselves", ["Call", "Samples#", "Share#"]);
    this.hot = new KeyedList(body, () => row(["path", "number", "number"]), ({ cells }, texts) => texts.forEach((text, place) => setText(cells[place], text)));
    this.found = element("div", { hidden: true }, this.graph.node, node);
    this.options = element("div", { class: "lookup", hidden: true }, titled("Time", this.kind), titled("Of subtask", this.subtask));
    this.node = element("section", { "aria-label": "Flame graph" }, element("h2", {}, "Flame graph"), element("div", { class: "buttons" }, this.button), this.options, this.about, this.found);
  }

  /** Offer the subtasks of the vertex. */
  of(parallelism) {
    if (this.subtask.options.length === parallelism + 1) return;
    const each = Array.from({ length: parallelism }, (_, place) => element("option", { value: String(place) }, String(place)));
    this.subtask.replaceChildren(element("option", { value: "" }, "All"), ...each);
  }

  async #take() {
    this.button.disabled = true;
    setText(this.about, "Samples are being taken.");
    try {
      const before = (await this.#ask()).endTimestamp;
      const deadline = Date.now() + PATIENCE;
      let found = await this.#ask();
      while ((found.endTimestamp < 0 || (found.endTimestamp === before && stale(before))) && Date.now() < deadline && this.node.isConnected) {
        await new Promise((resolve) => setTimeout(resolve, SOON));
        found = await this.#ask();
      }
      this.#show(found);
    } finally {
      this.button.disabled = false;
    }
  }

  async #look() {
    const asked = this.#wanted();
    const found = await this.#ask();
    if (asked === this.#wanted()) this.#show(found); // else another one was chosen meanwhile
  }

  #wanted() {
    const subtask = this.subtask.value === "" ? "" : path`&subtaskindex=${this.subtask.value}`;
    return `${this.address}/flamegraph` + path`?type=${this.kind.value}` + subtask;
  }

  #ask() {
    return this.app.api.get(this.#wanted());
  }

  #show(found) {
    if (found.endTimestamp < 0) {
      setText(this.about, "No samples came: nothing ran in that time. Try again while there is input.");
      return;
    }
    this.options.hidden = false;
    this.found.hidden = found.data.value === 0;
    setText(this.about, `${counted(found.data.value, "sample")} until ${moment(found.endTimestamp)}`);
    if (found.data.value === 0) return;
    this.graph.show(found.data);
    const shares = hottest(found.data, HOTTEST).map(([name, samples]) => [name, samples, share(samples / found.data.value)]);
    this.hot.show(shares, ([name]) => name);
  }

  async #guarded(what) {
    try {
      await what();
    } catch (error) {
      setText(this.about, error.message);
    }
  }
}

/** Whether samples that ended at this moment are so old that a request takes new ones. */
function stale(endedAt) {
  return endedAt < 0 || Date.now() - endedAt > 60_000;
}
