/** The numbers of a job as charts that go on: those of the whole job, and any metric of a vertex that is chosen. */

import { path } from "../api.js";
import { LineChart, recall, remember } from "../chart.js";
import { element, setText, titled } from "../dom.js";
import { bytes, fine, number, share } from "../format.js";
import { durationOf } from "../timeline.js";
import { TOTALS } from "../totals.js";

/** How the values of subtasks are put together, as the server calls it. */
const WAYS = { sum: "sum", max: "greatest", avg: "average", min: "least", skew: "unequal by (%)" };
const JOB = "";
/** What the server remembers of a vertex: its field, how subtasks are put together in it, and the unit of the metric in it. */
const REMEMBERED = {
  numRecordsInPerSecond: ["records_in", "sum", 1],
  numRecordsOutPerSecond: ["records_out", "sum", 1],
  numBytesInPerSecond: ["bytes_in", "sum", 1],
  numBytesOutPerSecond: ["bytes_out", "sum", 1],
  busyTimeMsPerSecond: ["busy", "max", 1000],
  backPressuredTimeMsPerSecond: ["backpressured", "max", 1000],
};
const HINT =
  "Charts of the last epochs, of the job, and of what flows through its vertices begin with what the server remembers, others when they were drawn first.";

/** @typedef {{vertex: string, name: string, way: string, title: string, points: import("../chart.js").Point[]}} Chosen */

export class Metrics {
  /** @param {import("../app.js").App} app @param {string} id @param {import("./job.js").Job} job */
  constructor(app, id, job) {
    this.app = app;
    this.id = id;
    this.job = job;
    this.shape = null;
    this.totals = TOTALS.map(([name, format], place) => ({ chart: new LineChart(name, format), place })).filter(({ place }) => TOTALS[place][2] !== "epoch_ms");
    this.epochs = [
      new LineChart("An epoch took", fine),
      new LineChart("Records of an epoch", number),
      new LineChart("Stored by an epoch", bytes),
    ];
    this.grid = element("div", { class: "charts" }, ...this.totals.map(({ chart }) => chart.node), ...this.epochs.map((chart) => chart.node));
    this.added = new Map();
    this.vertex = element("select", { on: { change: () => this.#guarded(() => this.#offer()) } });
    this.name = element("select", {});
    this.way = element("select", {}, ...Object.entries(WAYS).map(([way, words]) => element("option", { value: way }, words)));
    this.said = element("p", { class: "facts", role: "status" }, HINT);
    const fields = element(
      "fieldset",
      { class: "lookup" },
      titled("Of", this.vertex),
      titled("Metric", this.name),
      titled("Of its subtasks the", this.way),
      element("div", { class: "buttons" }, element("button", { type: "submit", class: "primary" }, "Draw")),
    );
    const form = element("form", { on: { submit: (event) => this.#submitted(event) } }, fields);
    for (const each of job.chosen) this.#draw(each);
    this.node = element("div", {}, this.grid, form, this.said);
  }

  async update(flow, signal) {
    if (!this.job.recalled) {
      recall(this.job.history, await this.#recent(path`jobs/${this.id}`, TOTALS.map(([, , field]) => [field, 1]), signal));
      this.job.recalled = true;
    }
    this.totals.forEach(({ chart, place }) => chart.show(this.job.history.map(({ at, values }) => ({ at, values: [values[place]] }))));
    if (flow.shape !== this.shape) {
      this.vertices = await this.job.vertices(flow, signal);
      const options = [[JOB, "The job"], ...this.vertices.map(({ id, name }) => [id, name])];
      this.vertex.replaceChildren(...options.map(([id, name]) => element("option", { value: id }, name)));
      this.shape = flow.shape;
      await this.#guarded(() => this.#offer(signal));
    }
    if (flow.vertices !== null) await Promise.all([this.#measure(flow.measured_at, signal), this.#showEpochs(signal)]);
  }

  /** Show the last epochs, which the server remembers from before the page was opened. */
  async #showEpochs(signal) {
    const { epochs } = await this.app.api.get(path`jobs/${this.id}/epochs`, signal);
    const drawn = [durationOf, (epoch) => epoch.records, (epoch) => epoch.stored];
    this.epochs.forEach((chart, place) => chart.show(epochs.map((epoch) => ({ at: epoch.published_at, values: [drawn[place](epoch)] }))));
  }

  /** What pages have seen before this one: points with these fields. */
  async #recent(address, fields, signal) {
    const { points } = await this.app.api.get(`${address}/recent`, signal);
    return points.map(({ at, values }) => ({ at, values: fields.map(([field, unit]) => (values[field] === null ? null : values[field] * unit)) }));
  }

  /** Begin the chart of a metric of a vertex with what is remembered of it. */
  async #recall({ vertex, name, way, points }) {
    const [field, kept, unit] = REMEMBERED[name] ?? [];
    if (vertex === JOB || kept !== way) return;
    recall(points, await this.#recent(path`jobs/${this.id}/vertices/${vertex}`, [[field, unit]]));
  }

  /** Ask for the chosen metrics, once for each vertex. */
  async #measure(at, signal) {
    const byVertex = Map.groupBy(this.job.chosen, ({ vertex }) => vertex);
    await Promise.all(
      [...byVertex].map(async ([vertex, chosen]) => {
        const names = [...new Set(chosen.map(({ name }) => name))].join(",");
        const found = new Map((await this.app.api.get(this.#address(vertex) + path`?get=${names}`, signal)).map((each) => [each.id, each]));
        for (const each of chosen) {
          const metric = found.get(each.name);
          const value = vertex === JOB ? metric?.value : metric?.[each.way];
          remember(each.points, { at, values: [value === undefined ? null : Number(value)] });
          this.added.get(each)?.show(each.points);
        }
      }),
    );
  }

  #address(vertex) {
    return path`jobs/${this.id}/` + (vertex === JOB ? "metrics" : path`vertices/${vertex}/subtasks/metrics`);
  }

  /** Offer the metrics of the vertex that is chosen. */
  async #offer(signal) {
    const vertex = this.vertex.value;
    const metrics = await this.app.api.get(this.#address(vertex), signal);
    if (vertex !== this.vertex.value) return;
    const names = metrics.map(({ id }) => id).filter((name) => !name.includes(",")).sort();
    this.name.replaceChildren(...names.map((name) => element("option", {}, name)));
    this.way.disabled = vertex === JOB;
  }

  #submitted(event) {
    event.preventDefault();
    if (this.name.value === "") return;
    const [vertex, name, way] = [this.vertex.value, this.name.value, this.way.value];
    const owner = vertex === JOB ? "The job" : this.vertex.selectedOptions[0].textContent;
    const title = vertex === JOB ? name : `${name}, ${WAYS[way]} · ${owner}`;
    if (this.job.chosen.some((each) => each.title === title)) return;
    const chosen = { vertex, name, way, title, points: [] };
    this.job.chosen.push(chosen);
    this.#draw(chosen);
    this.#guarded(async () => {
      await this.#recall(chosen);
      await this.#measure(Date.now());
    });
  }

  #draw(chosen) {
    const chart = new LineChart(chosen.title, formatOf(chosen), [""], () => {
      this.job.chosen.splice(this.job.chosen.indexOf(chosen), 1);
      this.added.delete(chosen);
      chart.node.remove();
    });
    this.added.set(chosen, chart);
    chart.show(chosen.points);
    this.grid.append(chart.node);
  }

  async #guarded(what) {
    try {
      await what();
      setText(this.said, HINT);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      setText(this.said, error.message);
    }
  }
}

/** Write a metric as its name says: bytes, times, shares of time, or plain numbers. */
export function formatOf({ name, way }) {
  if (way === "skew") return (value) => (value === null ? number(null) : `${Math.round(value)} %`);
  if (/TimeMsPerSecond$/.test(name)) return (value) => share(value === null ? null : value / 1000);
  if (/Bytes/.test(name)) return bytes;
  if (/(Time|Duration|Lag|Ms)(\.(mean|min|max|sum))?$/i.test(name)) return fine;
  return number;
}
