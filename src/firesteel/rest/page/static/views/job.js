/** A job: its heading and buttons, and below them one of its sections. */

import { ACTIONS } from "../actions.js";
import { path } from "../api.js";
import { remember } from "../chart.js";
import { ask } from "../dialog.js";
import { element, setAttribute, setText } from "../dom.js";
import { counted, duration } from "../format.js";
import { Poller } from "../poll.js";
import { refused } from "../rights.js";
import { TOTALS } from "../totals.js";
import { Checkpoints } from "./checkpoints.js";
import { Configuration } from "./configuration.js";
import { Exceptions } from "./exceptions.js";
import { Log } from "./log.js";
import { Metrics } from "./metrics.js";
import { Patterns } from "./patterns.js";
import { State } from "./state.js";
import { Vertex } from "./vertex.js";
import { Vertices } from "./vertices.js";

/** How soon to ask again: as the server says, sooner on the way to another state, and seldom at the end. */
const EVERY = 2000;
const CHANGING = 500;
const OVER = 10_000;

/** The sections by the last part of the address. */
const SECTIONS = {
  graph: ["Graph", Vertices],
  checkpoints: ["Epochs", Checkpoints],
  metrics: ["Metrics", Metrics],
  exceptions: ["Exceptions", Exceptions],
  state: ["State", State],
  log: ["Log", Log],
  patterns: ["Patterns", Patterns],
  configuration: ["Configuration", Configuration],
};
const ENDED = new Set(["FINISHED", "CANCELED", "FAILED"]);

export class Job {
  /** @param {import("../app.js").App} app @param {string} id @param {string} [section] @param {string} [detail] */
  constructor(app, id, section, detail) {
    this.app = app;
    this.id = id;
    this.title = `Job ${id}`;
    /** @type {import("../chart.js").Point[]} what the totals have been since the page was opened, and before once they are `recalled` */
    this.history = [];
    this.recalled = false;
    /** @type {string|null} why nothing may be done to the job, null if it may; the server decides in the end */
    this.refusal = null;
    /** @type {import("./metrics.js").Chosen[]} the metrics that are drawn beside the totals */
    this.chosen = [];
    this.heading = element("h1", {}, "Job");
    this.state = element("span", { class: "state" });
    this.facts = element("span", { class: "facts" }, "The server is asked for it.");
    this.culprit = element("a", {});
    this.before = element("span");
    this.after = element("span");
    this.bottleneck = element("p", { class: "facts bottleneck-line" }, this.before, this.culprit, this.after);
    this.tiles = TOTALS.map(([name]) => ({ name, value: element("dd") }));
    const tiles = element("dl", { class: "tiles" }, ...this.tiles.map(({ name, value }) => element("div", {}, element("dt", {}, name), value)));
    this.buttons = ACTIONS.map((action) =>
      element("button", { type: "button", disabled: true, class: action.danger ? "danger" : null, on: { click: () => this.#do(action) } }, action.label),
    );
    const actions = element("div", { class: "buttons", role: "group", "aria-label": "What to do with this job" }, ...this.buttons);
    this.links = Object.entries(SECTIONS).map(([name, [label]]) => element("a", { href: path`#/jobs/${id}/${name}` }, label));
    const nav = element("nav", { class: "sections", "aria-label": "Of this job" }, ...this.links);
    this.refused = element("div");
    this.place = element("div");
    const head = element("div", { class: "head" }, element("div", {}, this.heading, element("p", {}, this.state, " ", this.facts)), element("div", {}, actions, this.refused));
    this.node = element("div", { class: "job" }, head, tiles, this.bottleneck, nav, this.place);
    this.open(section, detail);
    this.poller = new Poller((signal) => this.#turn(signal), app.report, EVERY);
  }

  /** @param {string} [section] the graph, unless it is another one @param {string} [detail] the vertex of the graph */
  open(section, detail) {
    const name = Object.hasOwn(SECTIONS, section ?? "") ? section : "graph";
    Object.keys(SECTIONS).forEach((each, place) => setAttribute(this.links[place], "aria-current", each === name ? "page" : null));
    const Section = name === "graph" && detail ? Vertex : SECTIONS[name][1];
    this.section = new Section(this.app, this.id, this, detail);
    this.place.replaceChildren(this.section.node);
    this.measuredAt = -1;
    this.poller?.now();
  }

  close() {
    this.poller.stop();
  }

  /**
   * Return the vertices of the job, asked for once for each shape that it has.
   * @returns {Promise<{id: string, name: string, parallelism: number, inputs: {id: string, how: string}[]}[]>}
   */
  async vertices(flow, signal) {
    if (this.shape !== flow.shape) {
      const job = await this.app.api.get(path`jobs/${this.id}`, signal);
      const inputs = new Map(job.plan.nodes.map((node) => [node.id, node.inputs ?? []]));
      this.known = job.vertices.map(({ id, name, parallelism }) => ({
        id,
        name,
        parallelism,
        inputs: (inputs.get(id) ?? []).map((input) => ({ id: input.id, how: input.ship_strategy })),
      }));
      this.shape = flow.shape;
    }
    return this.known;
  }

  async #turn(signal) {
    const { section } = this;
    const asked = this.app.api.get(path`jobs/${this.id}/flow` + `?after=${this.measuredAt}`, signal);
    const [flow, rights] = await Promise.all([asked, this.app.rights()]);
    this.flow = flow;
    this.#allow(rights.refusal("operator"));
    this.#show(flow);
    this.poller.every = ENDED.has(flow.status) ? OVER : flow.status === "RUNNING" ? flow.again : CHANGING;
    if (section !== this.section) return; // another one was opened meanwhile, which needs all numbers
    this.measuredAt = flow.measured_at;
    remember(this.history, { at: flow.measured_at, values: TOTALS.map(([, , field]) => flow.totals[field]) });
    await section.update(flow, signal);
  }

  #show(flow) {
    this.app.setTitle(flow.name);
    setText(this.heading, flow.name);
    setText(this.state, flow.status);
    setAttribute(this.state, "data-state", flow.status);
    const age = duration((flow.end ?? flow.now) - flow.start);
    const reason = flow.status_reason === null ? "" : ` · ${flow.status_reason}`;
    setText(this.facts, `for ${age} · parallelism ${flow.parallelism} · ${counted(flow.restarts, "restart")}${reason}`);
    this.#showBottleneck(ENDED.has(flow.status) ? null : flow.bottleneck);
    this.tiles.forEach(({ value }, place) => setText(value, TOTALS[place][1](flow.totals[TOTALS[place][2]])));
    for (const button of this.buttons) {
      button.disabled = this.refusal !== null || (flow.status !== "RUNNING" && (button.textContent !== "Cancel" || ENDED.has(flow.status)));
    }
  }

  /** @param {string|null} refusal why the user may do nothing here */
  #allow(refusal) {
    if (refusal === this.refusal) return;
    this.refusal = refusal;
    this.refused.replaceChildren(...(refusal === null ? [] : [refused("These are", refusal)]));
  }

  #showBottleneck(found) {
    const [before, name, after] = found === null ? ["", "", ""] : told(found);
    setText(this.before, before);
    setText(this.culprit, name);
    setText(this.after, after);
    const vertex = found?.vertex ?? null;
    setAttribute(this.culprit, "href", vertex === null ? null : path`#/jobs/${this.id}/graph/${vertex}`);
    setAttribute(this.bottleneck, "data-limit", found?.at_limit ? "" : null);
  }

  async #do(action) {
    const job = this.flow;
    const question = { title: `${action.label}: ${job.name}`, text: action.explain, action: action.label, danger: action.danger, fields: action.fields(job) };
    const filled = await ask(question);
    if (filled === null) return;
    const say = (text) => this.app.say(`${job.name}: ${text}`);
    say(`${action.label} was asked for.`);
    try {
      say(await action.run(this.app.api, this.id, filled));
    } catch (error) {
      say(`${action.label} failed: ${error.message}`);
    }
    this.poller.now();
  }
}

function told({ name, busy, at_limit: atLimit }) {
  const time = `, busy ${Math.round(busy / 10)} % of the time.`;
  return [atLimit ? "The bottleneck is " : "Waits for input; would be held back first by ", name, time];
}
