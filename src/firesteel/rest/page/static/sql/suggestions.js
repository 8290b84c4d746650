/** Words to complete what is typed, in a list below the cursor of an editor. */

import { element, setAttribute, setText } from "../dom.js";
import { counted } from "../format.js";

const PAUSE = 150;
const MOST = 50;
const TYPED = /[\p{L}_$][\p{L}\p{N}_$]*$/u;

export class Suggestions {
  /** @param {import("./editor.js").Editor} editor @param {string} id of the list */
  constructor(editor, id) {
    this.editor = editor;
    this.words = [];
    this.chosen = -1;
    this.timer = 0;
    this.asked = 0;
    this.node = element("ul", { id, class: "suggestions", role: "listbox", "aria-label": "Words", hidden: true });
    this.status = element("p", { class: "unseen", role: "status" });
  }

  get isOpen() {
    return !this.node.hidden;
  }

  /** Something was typed: offer words soon, after two letters or a point. */
  typed() {
    clearTimeout(this.timer);
    const before = this.editor.text.slice(0, this.editor.cursor);
    const word = TYPED.exec(before)?.[0] ?? "";
    if (word.length >= 2 || /[\p{L}\p{N}_`]\.$/u.test(before)) this.timer = setTimeout(() => this.ask(false), PAUSE);
    else this.close();
  }

  /** Ask for words, and show them. @param {boolean} wanted was asked for by a key: the first word is chosen */
  async ask(wanted) {
    clearTimeout(this.timer);
    const { text, cursor } = this.editor;
    const number = (this.asked += 1);
    const words = await this.editor.host.words(text, cursor);
    if (number !== this.asked || this.editor.cursor !== cursor || this.editor.text !== text) return; // it was typed on
    this.words = words.slice(0, MOST);
    if (this.words.length === 0) this.close();
    else this.#show(wanted ? 0 : -1);
    if (wanted && this.words.length === 0) setText(this.status, "No word fits here.");
  }

  close() {
    clearTimeout(this.timer);
    this.asked += 1;
    if (!this.isOpen) return;
    this.node.hidden = true;
    setText(this.status, "");
    setAttribute(this.editor.area, "aria-activedescendant", null);
    setAttribute(this.editor.area, "aria-controls", null);
  }

  /** A key was pressed in the editor. Enter takes a word only if it was chosen, Tab the first one otherwise. */
  pressed(event) {
    if (!this.isOpen) return;
    const { length } = this.words;
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) this.#choose((Math.max(this.chosen, event.key === "ArrowUp" ? 0 : -1) + steps[event.key] + length) % length);
    else if (event.key === "Escape") this.close();
    else if (event.key === "Tab" && !event.shiftKey) this.#take(Math.max(0, this.chosen));
    else if (event.key === "Enter" && this.chosen >= 0) this.#take(this.chosen);
    else return;
    event.preventDefault();
  }

  #show(chosen) {
    const items = this.words.map((word, place) =>
      element(
        "li",
        { id: `${this.node.id}-${place}`, role: "option", "aria-selected": "false", on: { mousedown: (event) => event.preventDefault(), click: () => this.#take(place) } },
        word,
      ),
    );
    this.node.replaceChildren(...items);
    const { x, y } = this.editor.placeOf(this.editor.cursor);
    this.node.hidden = false;
    const widest = this.editor.area.clientWidth - this.node.offsetWidth;
    this.node.style.setProperty("left", `${Math.max(0, Math.min(x, widest))}px`);
    this.node.style.setProperty("top", `${y}px`);
    setAttribute(this.editor.area, "aria-controls", this.node.id);
    setText(this.status, `${counted(items.length, "word")} to choose from with the arrow keys. Tab takes ${this.words[Math.max(0, chosen)]}.`);
    this.chosen = -1;
    if (chosen >= 0) this.#choose(chosen);
  }

  #choose(place) {
    setAttribute(this.node.children[this.chosen] ?? this.node.children[place], "aria-selected", "false");
    this.chosen = place;
    const item = this.node.children[place];
    setAttribute(item, "aria-selected", "true");
    setAttribute(this.editor.area, "aria-activedescendant", item.id);
    item.scrollIntoView({ block: "nearest" });
  }

  #take(place) {
    const { text, cursor } = this.editor;
    const typed = TYPED.exec(text.slice(0, cursor))?.[0] ?? "";
    const word = this.words[place];
    this.close();
    this.editor.replace({ start: cursor - typed.length, end: cursor }, word);
    this.close(); // what was put in is not typed on
  }
}
