/** Questions before something is done that cannot be undone by looking away. */

import { element } from "./dom.js";

let counted = 0;

/**
 * @typedef {{name: string, label: string, type: "text"|"number"|"checkbox", value?: string, hint?: string}} Field
 *
 * Ask whether something is to be done.
 * @param {{title: string, text: string, action: string, danger?: boolean, fields?: Field[]}} question
 * @returns {Promise<Object<string, string|boolean>|null>} what was filled in, null if it is not to be done
 */
export function ask({ title, text, action, danger = false, fields = [] }) {
  const rows = fields.map(labelled);
  const heading = element("h2", { id: `dialog-${(counted += 1)}` }, title);
  const no = element("button", { type: "button", autofocus: danger }, "Do nothing");
  const yes = element("button", { type: "submit", class: danger ? "danger" : "primary" }, action);
  const form = element("form", {}, heading, element("p", {}, text), ...rows.map((each) => each.node), element("div", { class: "buttons" }, no, yes));
  const dialog = element("dialog", { "aria-labelledby": heading.id }, form);
  document.body.append(dialog);
  return new Promise((resolve) => {
    const end = (answer) => {
      resolve(answer);
      dialog.close();
      dialog.remove();
    };
    no.addEventListener("click", () => end(null));
    dialog.addEventListener("cancel", () => end(null));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      end(Object.fromEntries(rows.map(({ field, input }) => [field.name, field.type === "checkbox" ? input.checked : input.value])));
    });
    dialog.showModal();
  });
}

/**
 * Make a field with its label.
 * @param {Field} field
 * @returns {{field: Field, input: HTMLInputElement, node: HTMLElement}}
 */
export function labelled(field) {
  const limits = field.type === "number" ? { min: 1, step: 1, required: true } : {};
  const input = element("input", { name: field.name, type: field.type, value: field.value ?? null, autocomplete: "off", ...limits });
  const hint = field.hint === undefined ? null : element("small", {}, field.hint);
  const words = element("span", {}, field.label);
  return { field, input, node: element("label", { class: field.type }, ...(field.type === "checkbox" ? [input, words] : [words, input]), hint) };
}
