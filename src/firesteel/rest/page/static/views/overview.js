/** The overview: all jobs, with their rates and health. */

import { path } from "../api.js";
import { element, KeyedList, meter, row, setAttribute, setText, table } from "../dom.js";
import { counted, duration, moment, rate, share } from "../format.js";
import { Poller } from "../poll.js";

/** How soon to ask again until the server has said it. */
const EVERY = 2000;

/** What the words of `health` mean. */
const HEALTH = {
  ok: "well",
  limit: "at its limit",
  waits: "waits",
  trouble: "starts again",
  failed: "failed",
  ended: "ended",
};
const CLASSES = ["", "", "", "number", "number", "number", "number", "", "number", ""];
const HEADS = ["Job", "State", "Health", "Read#", "Written#", "Busy#", "Held back#", "Bottleneck", "Duration#", "Started"];

export class Overview {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.app = app;
    this.title = "Jobs";
    /** @type {Map<string, object>} */
    this.jobs = new Map();
    this.version = "";
    this.ahead = 0;
    const { node, body, fit } = table("Jobs, the newest first", HEADS);
    this.fit = fit;
    this.rows = new KeyedList(body, () => jobRow(), updateRow);
    this.filter = element("input", { type: "search", on: { input: () => this.#show() } });
    this.counts = element("p", { class: "counts" }, "The server is asked for its jobs.");
    const search = element("label", { class: "search" }, element("span", {}, "Show only jobs with"), this.filter);
    this.node = element("div", {}, element("h1", {}, "Jobs"), this.counts, search, node);
    this.poller = new Poller((signal) => this.#turn(signal), app.report, EVERY);
  }

  close() {
    this.poller.stop();
  }

  async #turn(signal) {
    const changes = await this.app.api.get(`page/jobs?after=${this.version}`, signal);
    if (changes.all) this.jobs.clear();
    for (const id of changes.gone) this.jobs.delete(id);
    for (const job of changes.jobs) this.jobs.set(job.id, job);
    this.version = changes.version;
    this.poller.every = changes.again;
    this.ahead = changes.now - Date.now();
    this.#show();
  }

  #show() {
    if (this.version === "") return; // nothing is known yet
    const wanted = this.filter.value.trim().toLowerCase();
    const all = [...this.jobs.values()].sort((one, other) => other.start - one.start || (one.id < other.id ? -1 : 1));
    const shown = all.filter((job) => `${job.name}\n${job.id}\n${job.status}\n${HEALTH[job.health]}`.toLowerCase().includes(wanted));
    this.fit(all.length);
    this.rows.show(shown, (job) => job.id);
    for (const { item, view } of this.rows.entries.values()) showAge(view, item, this.ahead);
    setText(this.counts, summary(all));
  }
}

function summary(jobs) {
  if (jobs.length === 0) return "There are no jobs. Submit one with: firesteel run --cluster ADDRESS program.py";
  const counts = new Map();
  for (const job of jobs) counts.set(job.status, (counts.get(job.status) ?? 0) + 1);
  const read = jobs.reduce((sum, job) => sum + (job.records_in ?? 0), 0);
  const parts = [...counts].map(([status, count]) => `${count} ${status}`);
  return `${parts.join(", ")}. ${rate(read)} read by all.`;
}

function jobRow() {
  const { node, cells } = row(CLASSES);
  const link = element("a", {});
  const state = element("span", { class: "state" });
  const health = element("span", { class: "health" });
  cells[0].append(link);
  cells[1].append(state);
  cells[2].append(health);
  return { node, cells, link, state, health };
}

function updateRow({ cells, link, state, health }, job) {
  setText(link, job.name);
  setAttribute(link, "href", path`#/jobs/${job.id}`);
  setText(state, job.status);
  setAttribute(state, "data-state", job.status);
  setText(health, job.restarts > 0 ? `${HEALTH[job.health]}, ${counted(job.restarts, "restart")}` : HEALTH[job.health]);
  setAttribute(health, "data-health", job.health);
  setText(cells[3], rate(job.records_in));
  setText(cells[4], rate(job.records_out));
  setText(cells[5], share(job.busy));
  setText(cells[6], share(job.backpressured));
  meter(cells[5], job.busy);
  meter(cells[6], job.backpressured);
  setText(cells[7], job.bottleneck ?? "");
  setText(cells[9], moment(job.start));
}

function showAge({ cells }, job, ahead) {
  setText(cells[8], duration((job.end ?? Date.now() + ahead) - job.start));
}
