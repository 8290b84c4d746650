/** The state of a job: a key looked up, all keys page by page, what changed between two epochs, and the key groups. */

import { path } from "../api.js";
import { element, KeyedList, once, row, setText, table, titled } from "../dom.js";
import { bytes, counted, moment, number } from "../format.js";
import { groupChart } from "../groups.js";

const PAGE = 50;
const LAST = "";
const NONE = "";

export class State {
  /** @param {import("../app.js").App} app @param {string} id */
  constructor(app, id) {
    this.app = app;
    this.id = id;
    this.latest = null;
    this.state = element("select", { name: "state" });
    this.epoch = element("select", { name: "epoch" }, element("option", { value: LAST }, "the last"));
    this.other = element("select", { name: "other", on: { change: () => this.#rename() } }, element("option", { value: NONE }, "no other"));
    this.key = element("input", { name: "key", type: "text", autocomplete: "off" });
    this.about = element("p", { class: "facts", role: "status" });
    this.wanted = null;
    this.answering = once(() => this.#answer());
    const button = (label, what) => element("button", { type: "button", on: { click: () => this.#want(what) } }, label);
    this.browse = button("All keys", () => this.#begin());
    this.next = button("Next page", () => this.#turn(1));
    this.previous = button("Previous page", () => this.#turn(-1));
    const groups = button("Key groups", () => this.#groups());
    this.fields = element(
      "fieldset",
      { class: "lookup", disabled: true },
      titled("State", this.state),
      titled("After the epoch", this.epoch),
      titled("Compared with", this.other),
      titled("Key", this.key),
      element("div", { class: "buttons" }, element("button", { type: "submit", class: "primary" }, "Look up"), this.browse, groups),
    );
    const form = element("form", { on: { submit: (event) => this.#submitted(event) } }, this.fields);
    this.place = element("div");
    this.pages = element("div", { class: "buttons", hidden: true }, this.previous, this.next);
    this.node = element("div", {}, form, this.about, this.place, this.pages);
  }

  /** Offer the states once, and the kept epochs whenever there are others. */
  async update(flow, signal) {
    if (flow.totals.epoch === this.latest && this.latest !== null) return;
    await this.#guarded(async () => {
      const [{ operators, epoch }, { history }] = await Promise.all(
        [path`jobs/${this.id}/operators`, path`jobs/${this.id}/checkpoints`].map((each) => this.app.api.get(each, signal)),
      );
      this.latest = flow.totals.epoch ?? epoch;
      if (this.state.options.length === 0) this.#offer(operators);
      const kept = history.map((each) => String(each.id));
      offer(this.epoch, [[LAST, "the last"], ...kept.map((each) => [each, each])]);
      offer(this.other, [[NONE, "no other"], ...kept.map((each) => [each, `epoch ${each}`])]);
    });
  }

  #offer(operators) {
    const options = operators.flatMap((operator) => operator.states.map((state) => option(operator, state)));
    this.state.replaceChildren(...options);
    this.fields.disabled = options.length === 0;
    setText(this.about, options.length === 0 ? "This job has no state that can be looked up." : "");
  }

  #rename() {
    setText(this.browse, this.other.value === NONE ? "All keys" : "Changed keys");
  }

  #submitted(event) {
    event.preventDefault();
    this.#want(() => this.#lookUp());
  }

  async #lookUp() {
    const address = this.#address() + path`/keys/${this.key.value}`;
    const [before, after] = this.#epochs();
    if (before === null) {
      const found = await this.app.api.get(address + (after === LAST ? "" : path`?epoch=${after}`));
      this.#show(["Key", "Value"], [[found.key, found.value]], aboutOf(found, counted(1, "key")));
      return;
    }
    const [old, now] = await Promise.all([this.#orNothing(address, before), this.#orNothing(address, after)]);
    const shown = [this.key.value, old?.value, now?.value];
    this.#show(headsOf(before, after), [shown], JSON.stringify(old?.value) === JSON.stringify(now?.value) ? "It is the same after both epochs." : "It has changed.");
  }

  async #orNothing(address, epoch) {
    try {
      return await this.app.api.get(address + path`?epoch=${epoch}`);
    } catch (error) {
      if (error.status === 404 && error.message.includes("has nothing at the key")) return null;
      throw error;
    }
  }

  /** Return the epoch before and the epoch that is shown: null for no comparison. */
  #epochs() {
    const other = this.other.value;
    if (other === NONE) return [null, this.epoch.value];
    const shown = this.epoch.value === LAST ? this.epoch.options[1].value : this.epoch.value;
    return Number(other) <= Number(shown) ? [other, shown] : [shown, other];
  }

  /** Begin a scan; its pages are of the epoch, or the epochs, that are chosen now. */
  async #begin() {
    const [before, after] = this.#epochs();
    const query = before !== null ? path`/changes?from=${before}&to=${after}` : after === LAST ? "?" : path`?epoch=${after}`;
    this.scan = { address: this.#address() + query, heads: before === null ? ["Key", "Value"] : headsOf(before, after), places: [null], page: 0 };
    await this.#turn(0);
  }

  /** Show another page of the scan. */
  async #turn(by) {
    const { scan } = this;
    const page = scan.page + by;
    const after = scan.places[page];
    if (after === undefined) return; // it was pressed once more than there are pages
    const found = await this.app.api.get(scan.address + path`&limit=${PAGE}` + (after === null ? "" : path`&after=${after}`));
    scan.page = page;
    scan.places.length = page + 1;
    if (found.next !== null) scan.places.push(found.next);
    const rows = (found.entries ?? found.rows.map((value) => ({ key: "", value }))).map((entry) => cellsOf(entry, scan.heads.length));
    const many = `${counted(rows.length, "key")}${found.next === null && page === 0 ? "" : ` on page ${page + 1}`}`;
    const about = scan.heads.length === 2 ? aboutOf(found, many) : `${many} ${rows.length === 1 ? "has" : "have"} changed${rows.length === 0 && found.next !== null ? " so far: go on with the next page" : ""}`;
    this.#show(scan.heads, rows, about);
    this.pages.hidden = found.next === null && page === 0;
    this.next.disabled = found.next === null;
    this.previous.disabled = page === 0;
  }

  async #groups() {
    const [, epoch] = this.#epochs();
    const found = await this.app.api.get(`${this.#address()}/groups` + (epoch === LAST ? "" : path`?epoch=${epoch}`));
    const { node, body } = table("Key groups by subtask", ["Subtask", "Key groups#", "Entries#", "Bytes#"]);
    const { chart, subtasks } = groupChart(found.entries, found.parallelism);
    for (const { subtask, first, last } of subtasks) {
      const made = row(["", "number", "number", "number"]);
      const sum = (values) => values.slice(first, last + 1).reduce((all, value) => all + value, 0);
      [subtask, `${first} to ${last}`, number(sum(found.entries)), bytes(sum(found.bytes))].forEach((text, place) => setText(made.cells[place], text));
      body.append(made.node);
    }
    this.pages.hidden = true;
    this.place.replaceChildren(element("div", { class: "card" }, chart), node);
    const all = found.entries.reduce((sum, value) => sum + value, 0);
    setText(this.about, aboutOf(found, `${found.complete ? "" : "at least "}${all === 1 ? "1 entry" : `${number(all)} entries`} in ${found.entries.length} key groups`));
  }

  #address() {
    const [operator, state] = JSON.parse(this.state.value);
    return path`jobs/${this.id}/operators/${operator}/states/${state}`;
  }

  #show(heads, rows, about) {
    const { node, body } = table("What the state has", heads);
    const list = new KeyedList(body, () => row(heads.map(() => "path")), ({ cells }, { texts }) => texts.forEach((text, place) => setText(cells[place], text)));
    list.show(rows.map((values, place) => ({ place, texts: values.map(textOf) })), ({ place }) => place);
    this.place.replaceChildren(node);
    this.pages.hidden = true;
    setText(this.about, about);
  }

  /** Do what a button asks for after what is under way; of several that wait the last one alone is done. */
  #want(what) {
    this.wanted = what;
    this.answering();
  }

  async #answer() {
    while (this.wanted !== null) {
      const what = this.wanted;
      this.wanted = null;
      await this.#guarded(what);
    }
  }

  /** Say why something did not work: most often there is nothing at a key. */
  async #guarded(what) {
    try {
      await what();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      this.pages.hidden = true;
      this.place.replaceChildren();
      setText(this.about, error.message);
    }
  }
}

function aboutOf(found, what) {
  return `${what} after epoch ${found.epoch} of ${moment(found.time)}`;
}

function headsOf(before, after) {
  return ["Key", `After epoch ${before}`, `After epoch ${after}`];
}

function cellsOf(entry, columns) {
  if (columns === 2) return [entry.key, entry.value];
  return [entry.key, entry.before, entry.after];
}

/** Keys that are texts stand as they are; where there is nothing, that is said. */
function textOf(value, place) {
  if (value === undefined) return "nothing";
  return typeof value === "string" && place === 0 ? value : JSON.stringify(value);
}

/** Offer these values with their texts, and keep what is chosen if it is among them. */
function offer(select, options) {
  const chosen = select.value;
  select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
  if (options.some(([value]) => value === chosen)) select.value = chosen;
}

function option(operator, state) {
  return element("option", { value: JSON.stringify([operator.id, state.name]), title: state.type }, `${operator.name ?? operator.id}: ${state.name}`);
}
