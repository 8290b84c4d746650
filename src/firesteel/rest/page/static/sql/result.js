/** The result of a statement while it comes: its rows as a table, its changes, a chart of it. */

import { element, KeyedList, row, setAttribute, setText, table } from "../dom.js";
import { counted } from "../format.js";
import { bestColumns, Chart } from "./chart.js";
import { Changelog } from "./changelog.js";

const PAGE = 100;
const KEPT_CHANGES = 500;
const SIGNS = { INSERT: "+I", UPDATE_BEFORE: "-U", UPDATE_AFTER: "+U", DELETE: "-D" };
const WORDS = { INSERT: "insert", UPDATE_BEFORE: "update, before", UPDATE_AFTER: "update, after", DELETE: "delete" };
const RIGHT = new Set(["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"]);

export class Result {
  /** @param {import("./chart.js").Column[]} columns @param {boolean} isQuery */
  constructor(columns, isQuery) {
    this.columns = columns;
    this.log = new Changelog();
    this.changes = [];
    this.seen = 0;
    this.page = 0;
    this.follows = false;
    this.sorted = null;
    this.about = element("p", { class: "facts", role: "status" });
    const best = isQuery ? bestColumns(columns) : null;
    this.views = { Table: this.#table(), ...(isQuery ? { Changes: this.#changes() } : {}) };
    if (best !== null) this.views.Chart = this.#chart(best);
    this.tabs = Object.keys(this.views).map((name) => element("button", { type: "button", "aria-pressed": "false", on: { click: () => this.choose(name) } }, name));
    this.place = element("div");
    const group = element("div", { class: "tabs", role: "group", "aria-label": "How to show the result" }, ...this.tabs);
    this.node = element("div", {}, ...(this.tabs.length > 1 ? [group] : []), this.about, this.place);
    this.choose("Table");
  }

  /** @param {import("./changelog.js").Change[]} changes */
  add(changes) {
    for (const change of changes) this.log.add(change);
    const from = this.log.changes - changes.length;
    this.changes.push(...changes.map((change, place) => ({ ...change, number: from + place + 1 })));
    if (this.changes.length > KEPT_CHANGES) this.changes.splice(0, this.changes.length - KEPT_CHANGES);
  }

  /** Show what has come. */
  show() {
    this.views[this.shown].show();
    const { changes, retracted, dropped, rows } = this.log;
    const parts = [counted(rows.size, "row")];
    if (retracted > 0) parts.push(`of ${counted(changes, "change")}, ${retracted} of which took a row away`);
    if (dropped > 0) parts.push(`the oldest ${dropped} are no longer kept here`);
    setText(this.about, `${parts.join(", ")}.`);
    this.seen = this.log.changes;
  }

  /** @param {"Table"|"Changes"|"Chart"} name */
  choose(name) {
    this.shown = name;
    for (const tab of this.tabs) setAttribute(tab, "aria-pressed", String(tab.textContent === name));
    this.place.replaceChildren(this.views[name].node);
    this.show();
  }

  #table() {
    const { node, body, heads } = this.#sheet("Rows");
    const list = new KeyedList(body, () => row(this.#classes()), (view, item) => this.#update(view, item));
    heads.forEach((head, place) => {
      const button = element("button", { type: "button", class: "sort", on: { click: () => this.#sort(place, heads) } }, head.textContent);
      head.replaceChildren(button);
    });
    const step = (name, move) => element("button", { type: "button", on: { click: () => this.#turn(move) } }, name);
    this.where = element("span");
    const pages = element("div", { class: "buttons", hidden: true }, step("First rows", () => 0), step("Before", (page) => page - 1), this.where, step("Next", (page) => page + 1), step("Last rows", () => Infinity));
    const show = () => {
      const rows = this.#inOrder(this.log.all());
      const last = Math.max(0, Math.ceil(rows.length / PAGE) - 1);
      this.page = this.follows ? last : Math.min(this.page, last);
      list.show(rows.slice(this.page * PAGE, (this.page + 1) * PAGE), (item) => item.id);
      pages.hidden = last === 0;
      setText(this.where, `rows ${this.page * PAGE + 1} to ${Math.min(rows.length, (this.page + 1) * PAGE)}`);
    };
    return { node: element("div", {}, node, pages), show };
  }

  #changes() {
    const { node, body } = this.#sheet("Changes, the newest first", ["Change"]);
    const list = new KeyedList(body, () => row(["", ...this.#classes()]), ({ cells, node: line }, { kind, fields }) => {
      setText(cells[0], SIGNS[kind]);
      setAttribute(cells[0], "title", WORDS[kind]);
      setAttribute(line, "data-change", SIGNS[kind]);
      fill(cells.slice(1), fields);
    });
    return { node, show: () => list.show(this.changes.slice(-PAGE).reverse(), (change) => change.number) };
  }

  #chart(best) {
    const chart = new Chart(this.columns, best);
    return { node: chart.node, show: () => chart.show(this.log.all()) };
  }

  #sheet(caption, before = []) {
    const names = this.columns.map((column) => column.name + (RIGHT.has(column.logicalType.type) ? "#" : ""));
    const made = table(caption, [...before, ...names]);
    const heads = [...made.node.querySelectorAll("thead th")];
    heads.slice(before.length).forEach((head, place) => setAttribute(head, "title", this.columns[place].logicalType.type));
    return { ...made, heads };
  }

  #classes() {
    return this.columns.map((column) => (RIGHT.has(column.logicalType.type) ? "number field" : "field"));
  }

  #update({ node, cells }, { fields, changed }) {
    fill(cells, fields);
    if (changed <= this.seen || this.seen === 0) return;
    node.classList.remove("new");
    void node.offsetWidth; // the animation begins again
    node.classList.add("new");
  }

  #sort(place, heads) {
    const before = this.sorted?.place === place ? this.sorted.way : null;
    const way = before === null ? "ascending" : before === "ascending" ? "descending" : null;
    this.sorted = way === null ? null : { place, way };
    heads.forEach((head, other) => setAttribute(head, "aria-sort", other === place ? way : null));
    this.show();
  }

  #inOrder(rows) {
    if (this.sorted === null) return rows;
    const { place, way } = this.sorted;
    const number = RIGHT.has(this.columns[place].logicalType.type);
    const sign = way === "ascending" ? 1 : -1;
    const compared = ({ fields: { [place]: one } }, { fields: { [place]: other } }) => {
      if (one === null || other === null) return Number(other === null) - Number(one === null);
      return number ? Number(one) - Number(other) : one < other ? -1 : Number(one > other);
    };
    return [...rows].sort((one, other) => sign * compared(one, other));
  }

  #turn(move) {
    const page = move(this.page);
    this.follows = page === Infinity;
    this.page = Math.max(0, page);
    this.show();
  }
}

function fill(cells, fields) {
  fields.forEach((field, place) => {
    setText(cells[place], field ?? "NULL");
    setAttribute(cells[place], "data-null", field === null);
  });
}
