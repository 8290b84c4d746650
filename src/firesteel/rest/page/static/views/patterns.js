/** The patterns of a job: the states of each, and how many partial matches wait in them. */

import { path } from "../api.js";
import { Boxes } from "../boxes.js";
import { element, setText, table } from "../dom.js";
import { moment, number } from "../format.js";

const VERBS = { take: "takes", ignore: "ignores", proceed: "goes on" };
const LETTERS = 26;

export class Patterns {
  /** @param {import("../app.js").App} app @param {string} id */
  constructor(app, id) {
    this.app = app;
    this.id = id;
    this.epoch = null;
    this.drawings = new Map();
    this.about = element("p", { class: "facts", role: "status" });
    this.place = element("div");
    this.node = element("div", {}, this.about, this.place);
  }

  async update(_flow, signal) {
    const found = await this.app.api.get(path`jobs/${this.id}/patterns` + (this.epoch === null ? "" : `?after=${this.epoch}`), signal);
    if (found.patterns === null) return; // no epoch has ended since
    this.epoch = found.epoch;
    if (found.patterns.length === 0) {
      setText(this.about, found.epoch === null ? "No epoch is committed yet." : "No operator of this job looks for a pattern.");
      return;
    }
    const more = found.complete ? "" : " There are too many keys to count them all, so there are more.";
    setText(this.about, `Partial matches after epoch ${found.epoch} of ${moment(found.time)}.${more}`);
    const shown = found.patterns.map((pattern) => this.#drawing(pattern));
    shown.forEach((drawing, place) => drawing.update(found.patterns[place]));
    const nodes = shown.map((drawing) => drawing.node);
    if (nodes.some((node, place) => this.place.children[place] !== node) || nodes.length !== this.place.childElementCount) this.place.replaceChildren(...nodes);
  }

  #drawing(pattern) {
    const key = JSON.stringify([pattern.operator, pattern.id, pattern.version, pattern.states.map((state) => [state.name, state.ways])]);
    if (!this.drawings.has(key)) this.drawings.set(key, new Automaton(pattern));
    return this.drawings.get(key);
  }
}

class Automaton {
  constructor(pattern) {
    const title = [pattern.name, pattern.id, pattern.version === null ? null : `version ${pattern.version}`].filter((each) => each !== null).join(", ");
    const items = pattern.states.map((state, place) => ({
      id: String(place),
      kind: state.kind,
      lines: [cut(state.name), cut(state.remark), ""],
      title: state.remark === "" ? state.name : `${state.name} (${state.remark})`,
    }));
    const arrows = pattern.states.flatMap((state, place) =>
      state.ways.map((way) => ({ from: String(place), to: String(way.target), kind: way.action, text: cut(words(way)), title: words(way) })),
    );
    const label = `The states of the pattern ${title}. The table below has the same numbers.`;
    this.picture = new Boxes(items, arrows, { label, width: 210, gap: 210 });
    const { node, body } = table(`States of ${title}`, ["State", "Partial matches#", "What becomes of an event"]);
    const rows = pattern.states.map((state, place) => listed(state, place, pattern.states));
    this.counts = rows.map((row) => row.count);
    body.append(...rows.map((row) => row.node));
    this.total = element("p", {});
    const picture = element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": `Picture of ${title}` }, this.picture.node);
    this.node = element("section", { class: "pattern" }, element("h2", {}, title), element("p", { class: "facts" }, pattern.title), this.total, picture, node);
  }

  update({ states, held_back: held }) {
    const most = Math.max(1, ...states.map((state) => state.waiting));
    const all = states.reduce((sum, state) => sum + state.waiting, 0);
    setText(this.total, `${matches(all)}.${held === 0 ? "" : ` ${number(held)} that are complete wait until one that began earlier is decided.`}`);
    states.forEach((state, place) => {
      const waits = WAITS.has(state.kind);
      this.picture.setLine(String(place), 2, waits ? matches(state.waiting) : "");
      this.picture.shade(String(place), state.waiting / most);
      setText(this.counts[place], waits ? number(state.waiting) : "");
    });
  }
}

const WAITS = new Set(["normal", "pending"]);

function listed(state, place, states) {
  const ways = state.ways.map((way) => `${words(way)}${way.target === place ? "" : ` → ${states[way.target].name}`}`);
  const count = element("td", { class: "number" });
  const cells = [element("th", { scope: "row" }, state.name), count, element("td", { class: "path" }, ways.join("; "))];
  return { node: element("tr", {}, ...cells), count };
}

function words({ action, condition }) {
  return condition === "" ? VERBS[action] : `${VERBS[action]} if ${condition}`;
}

function matches(count) {
  return count === 1 ? "1 partial match" : `${number(count)} partial matches`;
}

function cut(text) {
  return text.length <= LETTERS ? text : `${text.slice(0, LETTERS - 1)}…`;
}
