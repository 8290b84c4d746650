/** Elements and their texts. Texts are text nodes, never HTML; nodes are touched only where something changes. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an HTML element.
 * @param {string} tag
 * @param {Object<string, unknown>} [attributes] `on` has listeners by event; null and false leave an attribute out
 * @param {...(Node|string|null)} children texts become text nodes
 * @returns {HTMLElement}
 */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * Make an SVG element; arguments are those of `element`.
 * @returns {SVGElement}
 */
export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, { on = {}, ...attributes }, children) {
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, listener);
  for (const [name, value] of Object.entries(attributes)) setAttribute(node, name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** Give an attribute a value, if it has another one; null and false remove it, true makes it an empty one. */
export function setAttribute(node, name, value) {
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== (value === true ? "" : String(value))) {
    node.setAttribute(name, value === true ? "" : String(value));
  }
}

/** Give a node a text, if it has another one. */
export function setText(node, text) {
  const wanted = String(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}

/**
 * The children of a node, one for each item of a list. An item that is the same object as before costs nothing.
 * @template T, V
 */
export class KeyedList {
  /**
   * @param {Element} parent has no other children
   * @param {(item: T) => V & {node: Element}} make
   * @param {(view: V, item: T) => void} update is called after `make`, too
   * @param {number} atOnce how many children are updated in one frame
   */
  constructor(parent, make, update, atOnce = Infinity) {
    this.parent = parent;
    this.make = make;
    this.update = update;
    this.atOnce = atOnce;
    /** @type {Map<unknown, {item: T, view: V}>} */
    this.entries = new Map();
    this.later = 0;
  }

  /**
   * Show these items, in this order. New ones are there at once, changes of others so many in a frame.
   * @param {T[]} items
   * @param {(item: T) => unknown} keyOf a key that no other item has
   */
  show(items, keyOf) {
    const wanted = new Set(items.map(keyOf));
    for (const [key, entry] of this.entries) {
      if (!wanted.has(key)) {
        entry.view.node.remove();
        this.entries.delete(key);
      }
    }
    let next = this.parent.firstElementChild;
    const waiting = [];
    for (const item of items) {
      const { entry, isNew } = this.#entry(keyOf(item), item);
      if (entry.view.node === next) next = next.nextElementSibling;
      else this.parent.insertBefore(entry.view.node, next);
      if (isNew) this.#refresh(entry, item);
      else if (entry.item !== item) waiting.push([entry, item]);
    }
    cancelAnimationFrame(this.later);
    this.#refreshAll(waiting);
  }

  #entry(key, item) {
    const known = this.entries.get(key);
    if (known !== undefined) return { entry: known, isNew: false };
    const entry = { item: undefined, view: this.make(item) };
    this.entries.set(key, entry);
    return { entry, isNew: true };
  }

  #refresh(entry, item) {
    entry.item = item;
    this.update(entry.view, item);
  }

  /** Update what waits, a part in each frame: a page that updates a thousand rows at once does not scroll meanwhile. */
  #refreshAll(waiting) {
    for (const [entry, item] of waiting.splice(0, this.atOnce)) this.#refresh(entry, item);
    if (waiting.length > 0) this.later = requestAnimationFrame(() => this.#refreshAll(waiting));
  }
}

/** Return a listener that does `what`, and nothing while what an earlier call of it has begun is under way. */
export function once(what) {
  let going = false;
  return async () => {
    if (going) return;
    going = true;
    try {
      await what();
    } finally {
      going = false;
    }
  };
}

/** Give a variable of its style a share from 0 to 1, if it has another one. */
export function setShare(node, name, value) {
  const wanted = `${Math.round((value ?? 0) * 100)}%`;
  if (node.style.getPropertyValue(name) !== wanted) node.style.setProperty(name, wanted);
}

/** Show a share from 0 to 1 as a bar behind the text of a cell. */
export function meter(cell, value) {
  setShare(cell, "--part", value);
  setAttribute(cell, "data-meter", value === null || value === undefined ? null : "");
}

/** Put a label above a field, and a hint below it if there is one. */
export function titled(label, field, hint = null) {
  return element("label", {}, element("span", {}, label), field, hint === null ? null : element("small", {}, hint));
}

/** From so many rows on a table is laid out row by row. */
const LONG = 50;
/** How wide columns of long tables are at least (rem), and what share of the rest they get: the first, those of numbers, others. */
const WIDTHS = { first: [12, 2], number: [6.2, 1], text: [7.2, 1.2] };

/**
 * Make a table with a caption and an empty body, which scrolls by itself where it is too wide.
 *
 * A browser looks at each cell of a table to find how wide its columns are, again whenever one changes. `fit` says how many rows
 * there are: with many, the columns have widths of their own, and rows that are out of sight are neither laid out nor painted.
 * @param {string} caption
 * @param {string[]} heads a head that ends with # is over numbers
 * @returns {{node: HTMLElement, body: HTMLElement, fit: (rows: number) => void}}
 */
export function table(caption, heads) {
  const body = element("tbody", { role: "rowgroup" });
  const isNumber = (head) => head.endsWith("#");
  const cells = heads.map((head) =>
    element("th", { scope: "col", role: "columnheader", class: isNumber(head) ? "number" : null }, head.replace(/#$/, "")),
  );
  const head = element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...cells));
  const whole = element("table", { role: "table" }, element("caption", {}, caption), head, body);
  const widths = heads.map((name, place) => (place === 0 ? WIDTHS.first : isNumber(name) ? WIDTHS.number : WIDTHS.text));
  whole.style.setProperty("--columns", widths.map(([least, part]) => `minmax(${least}rem, ${part}fr)`).join(" "));
  whole.style.setProperty("--least", `${widths.reduce((sum, [least]) => sum + least, 0)}rem`);
  const fit = (rows) => whole.classList.toggle("long", rows >= LONG);
  return { node: element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption }, whole), body, fit };
}

/**
 * Make a row of a table with empty cells. Roles are named, since a long table has another display.
 * @param {string[]} classes of each cell; the first is the head of the row
 */
export function row(classes) {
  const cells = classes.map((name, place) =>
    place === 0
      ? element("th", { scope: "row", role: "rowheader", class: name || null })
      : element("td", { role: "cell", class: name || null }),
  );
  return { node: element("tr", { role: "row" }, ...cells), cells };
}
