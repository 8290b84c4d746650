/**
 * A text area for SQL. What it shows in colours is a layer below it, with the same text at the same places; what is typed,
 * read aloud, selected, undone and pasted is the browser's own text area.
 */

import { element, setAttribute } from "../dom.js";
import { Suggestions } from "./suggestions.js";
import { tokens } from "./tokens.js";
import { KEYWORDS } from "./words.js";

let counted = 0;

/** @typedef {{start: number, end: number}} Span offsets in the text */

export class Editor {
  /**
   * @param {string} text at first
   * @param {{run: (step: boolean) => void, changed: () => void, words: (text: string, cursor: number) => Promise<string[]>}} host
   *   `run` is called for Ctrl+Enter, and for Shift+Enter with `step`; `words` are those that may stand at the cursor
   */
  constructor(text, host) {
    this.host = host;
    this.marks = { active: null, wrong: null };
    const id = `editor-${(counted += 1)}`;
    this.lines = element("div", { class: "lines", "aria-hidden": "true" });
    this.layer = element("pre", { class: "layer", "aria-hidden": "true" });
    this.hint = element("p", { class: "facts", id: `${id}-hint` }, "Ctrl+Enter runs the statement at the cursor, Shift+Enter also steps to the next one, Ctrl+Space completes a word.");
    this.area = element("textarea", {
      id,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      wrap: "off",
      rows: 9,
      "aria-label": "SQL",
      "aria-describedby": `${id}-hint`,
      "aria-autocomplete": "list",
      on: {
        input: () => this.#typed(),
        scroll: () => this.#scrolled(),
        keydown: (event) => this.#pressed(event),
        blur: () => this.suggestions.close(),
        selectionchange: () => this.#moved(),
      },
    });
    this.area.value = text;
    this.suggestions = new Suggestions(this, `${id}-words`);
    const sheet = element("div", { class: "sheet" }, this.layer, this.area, this.suggestions.node);
    this.node = element("div", {}, element("div", { class: "editor" }, this.lines, sheet), this.suggestions.status, this.hint);
    this.#paint();
  }

  get text() {
    return this.area.value;
  }

  get cursor() {
    return this.area.selectionStart;
  }

  /** What is selected; null if nothing is. @returns {Span|null} */
  get selection() {
    const { selectionStart: start, selectionEnd: end } = this.area;
    return start === end ? null : { start, end };
  }

  /** Mark the statement that would run. @param {Span|null} span */
  showActive(span) {
    this.marks.active = span;
    this.#paint();
  }

  /** Mark what is wrong, and put the cursor there. @param {Span|null} span @param {string} [describedBy] the id of the reason */
  showWrong(span, describedBy) {
    this.marks.wrong = span;
    setAttribute(this.area, "aria-invalid", span === null ? null : "true");
    setAttribute(this.area, "aria-describedby", `${this.hint.id}${span === null ? "" : ` ${describedBy}`}`);
    this.#paint();
    if (span !== null) this.goTo(span.start);
  }

  /** Put the cursor at an offset, and look there. */
  goTo(offset) {
    this.area.focus();
    this.area.setSelectionRange(offset, offset);
    const line = this.text.slice(0, offset).split("\n").length;
    const { lineHeight } = getComputedStyle(this.area);
    const top = (line - 1) * parseFloat(lineHeight);
    if (top < this.area.scrollTop || top > this.area.scrollTop + this.area.clientHeight - 40) this.area.scrollTop = top - 40;
  }

  /** Put a text at the place of a span, as if it had been typed: it can be undone. */
  replace({ start, end }, text) {
    this.area.focus();
    this.area.setSelectionRange(start, end);
    // The one way into the browser's own list of what can be undone; browsers that drop it take the second.
    if (!document.execCommand("insertText", false, text)) {
      this.area.setRangeText(text, start, end, "end");
      this.#typed();
    }
  }

  /** Return where a character is on the screen, relative to the text area. */
  placeOf(offset) {
    let left = offset;
    for (const part of this.layer.childNodes) {
      const node = part.firstChild ?? part;
      if (left <= node.textContent.length && node.nodeType === Node.TEXT_NODE) {
        const range = document.createRange();
        range.setStart(node, left);
        range.setEnd(node, left);
        const [at, around] = [range.getBoundingClientRect(), this.area.getBoundingClientRect()];
        return { x: at.left - around.left, y: at.bottom - around.top };
      }
      left -= node.textContent.length;
    }
    return { x: 0, y: 0 };
  }

  #typed() {
    this.marks = { active: null, wrong: null };
    setAttribute(this.area, "aria-invalid", null);
    this.#paint();
    this.host.changed();
    this.suggestions.typed();
  }

  #moved() {
    if (document.activeElement === this.area) this.host.changed();
  }

  #pressed(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || event.shiftKey)) {
      event.preventDefault();
      this.suggestions.close();
      this.host.run(event.shiftKey);
    } else if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      this.suggestions.ask(true);
    } else {
      this.suggestions.pressed(event);
    }
  }

  #scrolled() {
    this.layer.scrollTop = this.lines.scrollTop = this.area.scrollTop;
    this.layer.scrollLeft = this.area.scrollLeft;
    this.suggestions.close();
  }

  #paint() {
    const { text } = this;
    const parts = [];
    let from = 0;
    for (const token of tokens(text)) {
      if (token.start > from) parts.push(text.slice(from, token.start));
      parts.push(element("span", { class: this.#classOf(token) }, token.text));
      from = token.end;
    }
    parts.push(`${text.slice(from)}\n`); // a last line that is empty has a height, too
    this.layer.replaceChildren(...parts);
    const count = text.split("\n").length;
    if (this.lines.childElementCount !== count || this.lineOfActive !== this.marks.active?.start) this.#number(count);
    this.#scrolled();
  }

  #number(count) {
    const active = this.marks.active;
    const lineOf = (offset) => this.text.slice(0, offset).split("\n").length;
    const [first, last] = active === null ? [0, 0] : [lineOf(active.start), lineOf(active.end)];
    const numbers = Array.from({ length: count }, (_, place) =>
      element("div", { class: place + 1 >= first && place + 1 <= last ? "active" : null }, String(place + 1)),
    );
    this.lineOfActive = active?.start;
    this.lines.replaceChildren(...numbers);
  }

  #classOf({ kind, key, start, end }) {
    const name = kind === "word" ? (KEYWORDS.has(key) ? "keyword" : "name") : kind;
    const wrong = this.marks.wrong;
    return wrong !== null && start < wrong.end && end > wrong.start ? `${name} wrong` : name;
  }
}

