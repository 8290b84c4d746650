/** Why a job failed or began again, the newest first, with the line of the program. */

import { path } from "../api.js";
import { element, setText } from "../dom.js";
import { counted, moment } from "../format.js";

/** A line of a program, as tracebacks and messages name it. */
const LINE = /File "([^"]+)", line (\d+)|\bat (\S+\.py):(\d+)/g;

export class Exceptions {
  /** @param {import("../app.js").App} app @param {string} id */
  constructor(app, id) {
    this.app = app;
    this.id = id;
    this.seen = null;
    this.counts = element("p", { class: "facts" });
    this.list = element("div");
    this.node = element("div", {}, this.counts, this.list);
  }

  async update(flow, signal) {
    const seen = `${flow.restarts} ${flow.status}`;
    if (seen === this.seen) return;
    const { exceptionHistory } = await this.app.api.get(path`jobs/${this.id}/exceptions`, signal);
    this.seen = seen;
    const { entries } = exceptionHistory;
    setText(this.counts, entries.length === 0 ? "Nothing has failed." : `${counted(entries.length, "failure")}, the newest first`);
    this.list.replaceChildren(...entries.map(shown));
  }
}

function shown(entry, place) {
  const line = lineOf(entry.stacktrace);
  const where = [entry.taskName, line === null ? undefined : `at ${line}`].filter((part) => part !== undefined).join(", ");
  return element(
    "details",
    { class: "failure", open: place === 0 },
    element("summary", {}, element("strong", {}, entry.exceptionName), ` ${moment(entry.timestamp)} ${where}`),
    element("pre", { tabindex: 0 }, entry.stacktrace),
  );
}

/** Return the innermost line that a text names, which is the user's: FILE:LINE; null if there is none. */
export function lineOf(text) {
  const found = [...text.matchAll(LINE)].pop();
  return found === undefined ? null : `${found[1] ?? found[3]}:${found[2] ?? found[4]}`;
}
