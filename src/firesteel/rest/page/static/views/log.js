/** What the drivers of a job have printed and logged: the end of it, followed while it grows, and earlier parts. */

import { path } from "../api.js";
import { element, once, setText, titled } from "../dom.js";
import { bytes } from "../format.js";

/** More lines than this are not kept: the earliest go first. */
const MOST = 5000;
/** Parts that are asked for at most in one turn, for a log that grows faster than it is read. */
const PARTS = 4;
/** The level of a line, as drivers, Spark and most programs write it. */
const LEVEL = /\b(ERROR|CRITICAL|FATAL|WARN(?:ING)?|INFO|DEBUG)\b/;
const CLASSES = { ERROR: "error", CRITICAL: "error", FATAL: "error", WARN: "warn", WARNING: "warn", DEBUG: "debug" };

export class Log {
  /** @param {import("../app.js").App} app @param {string} id */
  constructor(app, id) {
    this.app = app;
    this.address = path`jobs/${id}/log/part`;
    this.start = null;
    this.end = null;
    this.filter = element("input", { type: "search", on: { input: () => this.#choose() } });
    this.follow = element("input", { type: "checkbox", checked: true });
    this.earlier = element("button", { type: "button", disabled: true, on: { click: once(() => this.#guarded(() => this.#readEarlier())) } }, "Earlier lines");
    this.about = element("p", { class: "facts", role: "status" });
    this.lines = element("pre", { class: "log", tabindex: 0, role: "region", "aria-label": "Log" });
    const fields = element(
      "div",
      { class: "lookup" },
      titled("Show only lines with", this.filter),
      element("label", { class: "checkbox" }, this.follow, element("span", {}, "Follow")),
      element("div", { class: "buttons" }, this.earlier),
    );
    this.node = element("div", {}, fields, this.about, this.lines);
  }

  async update(_flow, signal) {
    for (let part = 0; part < PARTS; part += 1) {
      const found = await this.app.api.get(this.address + (this.end === null ? "" : path`?after=${this.end}`), signal);
      this.start ??= found.start;
      this.end = found.end;
      if (found.text === "") break;
      this.lines.append(...linesOf(found.text));
      this.#choose();
      if (this.follow.checked) this.lines.scrollTop = this.lines.scrollHeight;
    }
    while (this.lines.childElementCount > MOST) this.#drop();
    this.#tell();
  }

  async #readEarlier() {
    const found = await this.app.api.get(this.address + path`?before=${this.start}`);
    this.follow.checked = false;
    this.start = found.start;
    const height = this.lines.scrollHeight;
    this.lines.prepend(...linesOf(found.text));
    this.#choose();
    this.lines.scrollTop = this.lines.scrollHeight - height;
    this.#tell();
  }

  #drop() {
    const first = this.lines.firstElementChild;
    this.start += new TextEncoder().encode(first.textContent).length;
    first.remove();
  }

  #tell() {
    this.earlier.disabled = this.start === 0;
    setText(this.about, this.end === 0 ? "Nothing was logged yet." : `${bytes(this.start)} to ${bytes(this.end)}`);
  }

  #choose() {
    const wanted = this.filter.value.toLowerCase();
    for (const line of this.lines.children) line.hidden = !line.textContent.toLowerCase().includes(wanted);
  }

  async #guarded(what) {
    try {
      await what();
    } catch (error) {
      setText(this.about, error.message);
    }
  }
}

function linesOf(text) {
  return text.split(/(?<=\n)/).map((line) => element("span", { class: classOf(line) }, line));
}

/** Return the class of a line by its level; null for an ordinary one. */
export function classOf(line) {
  return CLASSES[LEVEL.exec(line)?.[1]] ?? null;
}
