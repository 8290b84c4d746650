/** Fields for the parameters of a statement. What was filled in stays while one types. */

import { element, setAttribute } from "../dom.js";
import { KINDS } from "./parameters.js";

export class ParameterFields {
  constructor() {
    this.known = new Map();
    this.node = element("fieldset", { class: "parameters", hidden: true });
  }

  /** @param {import("./parameters.js").Parameter[]} parameters */
  show(parameters) {
    const names = [...new Set(parameters.map((parameter) => parameter.name))];
    if (names.join() === this.names) return;
    this.names = names.join();
    this.node.hidden = names.length === 0;
    this.node.replaceChildren(element("legend", {}, "Parameters of the statement"), ...names.map((name) => this.#field(name)));
  }

  /** Whether there has been a field for a parameter. @param {string} name */
  knows(name) {
    return this.known.has(name);
  }

  /** Return what was filled in, by name. @returns {Map<string, {kind: string, text: string}>} */
  values() {
    return new Map([...this.known].map(([name, { kind, text }]) => [name, { kind: kind.value, text: text.value }]));
  }

  #field(name) {
    let found = this.known.get(name);
    if (found === undefined) {
      const text = element("input", { type: "text", autocomplete: "off", "aria-label": `Value of ${name}` });
      const kinds = KINDS.map((kind) => element("option", {}, kind));
      const kind = element("select", { "aria-label": `Kind of ${name}`, on: { change: () => setAttribute(text, "disabled", kind.value === "NULL") } }, ...kinds);
      found = { kind, text };
      this.known.set(name, found);
    }
    return element("div", { class: "row" }, element("code", {}, `:${name}`), found.kind, found.text);
  }
}
