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
   */
  constructor(parent, make, update) {
    this.parent = parent;
    this.make = make;
    this.update = update;
    /** @type {Map<unknown, {item: T, view: V}>} */
    this.entries = new Map();
  }

  /**
   * Show these items, in this order.
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
    for (const item of items) {
      const view = this.#entry(keyOf(item), item);
      if (view.node === next) next = next.nextElementSibling;
      else this.parent.insertBefore(view.node, next);
    }
  }

  #entry(key, item) {
    let entry = this.entries.get(key);
    if (entry === undefined) {
      entry = { item: undefined, view: this.make(item) };
      this.entries.set(key, entry);
    }
    if (entry.item !== item) {
      entry.item = item;
      this.update(entry.view, item);
    }
    return entry.view;
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

/** Show a share from 0 to 1 as a bar behind the text of a cell. */
export function meter(cell, value) {
  cell.style.setProperty("--part", `${Math.round((value ?? 0) * 100)}%`);
  setAttribute(cell, "data-meter", value === null || value === undefined ? null : "");
}

/** Put a label above a field, and a hint below it if there is one. */
export function titled(label, field, hint = null) {
  return element("label", {}, element("span", {}, label), field, hint === null ? null : element("small", {}, hint));
}

/**
 * Make a table with a caption and an empty body, which scrolls by itself where it is too wide.
 * @param {string} caption
 * @param {string[]} heads a head that ends with # is over numbers
 * @returns {{node: HTMLElement, body: HTMLElement}}
 */
export function table(caption, heads) {
  const body = element("tbody");
  const cells = heads.map((head) =>
    element("th", { scope: "col", class: head.endsWith("#") ? "number" : null }, head.replace(/#$/, "")),
  );
  const whole = element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...cells)), body);
  return { node: element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption }, whole), body };
}

/**
 * Make a row of a table with empty cells.
 * @param {string[]} classes of each cell; the first is the head of the row
 */
export function row(classes) {
  const cells = classes.map((name, place) =>
    place === 0 ? element("th", { scope: "row", class: name || null }) : element("td", { class: name || null }),
  );
  return { node: element("tr", {}, ...cells), cells };
}
