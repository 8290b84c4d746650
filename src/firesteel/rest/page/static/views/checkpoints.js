/** The epochs of a job: their phases, what its admission expects of the next one, and those that are kept. */

import { path } from "../api.js";
import { drawn, element, KeyedList, row, setAttribute, setText, table } from "../dom.js";
import { bytes, clock, duration, fine, moment, number, UNKNOWN } from "../format.js";
import { durationOf, fit, PHASES, phasesOf, timeline } from "../timeline.js";

const EPOCH_HEADS = ["Epoch#", "Published", "Records#", "Limit#", "Took#", "Phases", "Stored#"];
const KEPT_HEADS = ["Epoch#", "Committed", "Took#", "Stored#", "State#", "Place"];
const SIZE_HEADS = ["Operator", "Uid", "Stored in the epoch#", "State#", "Of which", "Storing took#"];
const MINI = 110;

export class Checkpoints {
  /** @param {import("../app.js").App} app @param {string} id */
  constructor(app, id) {
    this.app = app;
    this.id = id;
    this.latest = this.drawn = null;
    this.counts = element("p", { class: "facts" });
    this.line = element("div", { class: "card", hidden: true });
    this.admission = element("div", { class: "admission", hidden: true });
    const epochs = table("The last epochs whose output is visible, the newest first", EPOCH_HEADS);
    const kept = table("Epochs that are kept, and savepoints, the newest first", KEPT_HEADS);
    this.epochs = new KeyedList(epochs.body, makeEpoch, updateEpoch);
    this.kept = new KeyedList(kept.body, (epoch) => this.#makeKept(epoch), updateKept);
    this.sizes = element("div", { "aria-live": "polite" });
    this.node = element("div", {}, this.counts, this.line, this.admission, epochs.node, kept.node, this.sizes);
  }

  async update(flow, signal) {
    if (flow.vertices === null) return; // there is nothing new
    const found = await this.app.api.get(path`jobs/${this.id}/epochs`, signal);
    const { counts, kept } = found;
    setText(this.counts, `${counts.completed} committed, ${counts.in_progress} running, ${counts.failed} failed since the driver started`);
    this.#showEpochs(found);
    const latest = kept[0]?.external_path ?? null;
    if (latest === this.latest) return;
    this.latest = latest;
    this.kept.show(kept, (epoch) => epoch.external_path);
  }

  #showEpochs({ epochs, failures, target, limited }) {
    const last = epochs[epochs.length - 1];
    const state = `${last?.epoch} ${failures.length}`;
    if (last === undefined || state === this.drawn) return;
    this.drawn = state;
    const scale = Math.max(...epochs.map(durationOf));
    this.line.hidden = false;
    this.line.replaceChildren(legend(), timeline(epochs, failures));
    this.admission.hidden = !limited;
    if (limited) this.admission.replaceChildren(expected(last, target), element("div", { class: "card" }, fit(epochs, target)));
    const known = new Map([...this.epochs.entries].map(([key, { item }]) => [key, item]));
    const items = epochs.toReversed().map((epoch) => (known.get(epoch.epoch)?.scale === scale ? known.get(epoch.epoch) : { ...epoch, scale, limited }));
    this.epochs.show(items, (epoch) => epoch.epoch);
  }

  #makeKept(epoch) {
    const made = row(KEPT_HEADS.map((head) => (head.endsWith("#") ? "number" : head === "Place" ? "path" : "")));
    if (epoch.is_savepoint) {
      setText(made.cells[0], `${epoch.id}, savepoint`);
      return made;
    }
    made.button = element("button", { type: "button", class: "link", "aria-expanded": "false", on: { click: () => this.#open(epoch.id, made.button) } });
    setText(made.button, epoch.id);
    setAttribute(made.button, "aria-label", `Epoch ${epoch.id} by operator`);
    made.cells[0].append(made.button);
    return made;
  }

  /** Show what each operator stored in an epoch, below the table. */
  async #open(epoch, button) {
    const wasOpen = button.getAttribute("aria-expanded") === "true";
    for (const { view } of this.kept.entries.values()) if (view.button !== undefined) setAttribute(view.button, "aria-expanded", "false");
    this.sizes.replaceChildren();
    if (wasOpen) return;
    setAttribute(button, "aria-expanded", "true");
    try {
      const { operators } = await this.app.api.get(path`jobs/${this.id}/epochs/${epoch}`);
      const { node, body } = table(`Epoch ${epoch} by operator`, SIZE_HEADS);
      for (const { name, uid, checkpointed_size: stored, state_size: state, parts, end_to_end_duration: took } of operators) {
        const made = row(["", "", "number", "number", "path", "number"]);
        const texts = [name, uid ?? "", bytes(stored), bytes(state), parts.map(sized).join("; "), fine(took)];
        texts.forEach((text, place) => setText(made.cells[place], text));
        body.append(made.node);
      }
      this.sizes.replaceChildren(node);
    } catch (error) {
      this.sizes.replaceChildren(element("p", {}, error.message));
    }
  }
}

/** The names of states that are stored together, and their size. */
function sized({ states, state_size: size }) {
  return `${states.join(", ") || "timers"} ${bytes(size)}`;
}

function legend() {
  const swatches = PHASES.flatMap(([phase, word]) => [element("span", { class: `swatch ${phase}` }), `${word} `]);
  return element("p", { class: "legend" }, ...swatches, element("span", { class: "swatch failed" }), "failed");
}

/** What admission has learnt from the epochs up to the last one. */
function expected(last, target) {
  const tiles = [
    ["Floor of an epoch", fine(last.floor)],
    ["Cost of a record", fine(last.cost)],
    ["An epoch aims at", fine(target)],
    ["The next one reads of each source", `at most ${number(last.next_limit)}`],
    ["which is expected to take", fine(last.floor + last.cost * last.next_limit)],
  ];
  const sure = last.certain
    ? "Epochs of different sizes have shown the floor."
    : "Epochs of about one size do not show how much of their time is floor: it is an estimate.";
  return element(
    "div",
    {},
    element("h2", {}, "What admission expects"),
    element("dl", { class: "tiles" }, ...tiles.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text)))),
    element("p", { class: "facts" }, sure),
  );
}

function makeEpoch() {
  const made = row(["number", "", "number", "number", "number", "phases", "number"]);
  made.svg = drawn("svg", { class: "mini", width: MINI, height: 12, viewBox: `0 0 ${MINI} 12`, "aria-hidden": "true" });
  made.words = element("span");
  made.cells[5].append(made.svg, " ", made.words);
  return made;
}

function updateEpoch({ cells, svg, words }, epoch) {
  setText(cells[0], epoch.epoch);
  setText(cells[1], clock(epoch.published_at));
  setText(cells[2], number(epoch.records));
  setText(cells[3], epoch.limited ? number(epoch.limit) : UNKNOWN);
  setText(cells[4], fine(durationOf(epoch)));
  setText(words, phasesOf(epoch));
  setText(cells[6], bytes(epoch.stored));
  let x = 0;
  const parts = PHASES.map(([phase]) => {
    const width = (epoch[phase] / Math.max(epoch.scale, 1e-9)) * MINI;
    x += width;
    return drawn("rect", { class: `phase ${phase}`, x: x - width, y: 0, width, height: 12 });
  });
  svg.replaceChildren(...parts);
}

function updateKept({ cells }, epoch) {
  const texts = [
    moment(epoch.latest_ack_timestamp),
    duration(epoch.end_to_end_duration),
    bytes(epoch.checkpointed_size),
    bytes(epoch.state_size),
    epoch.external_path,
  ];
  texts.forEach((text, place) => setText(cells[place + 1], text));
}
