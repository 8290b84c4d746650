/** The rows that a stream of changes amounts to, in the order in which they came (as Flink's SQL client shows them). */

const MOST = 10_000;

/**
 * @typedef {{id: number, fields: (string|null)[], changed: number}} Row `changed` is the number of the last change
 * @typedef {{kind: "INSERT"|"UPDATE_BEFORE"|"UPDATE_AFTER"|"DELETE", fields: (string|null)[]}} Change
 */
export class Changelog {
  /** @param {number} [most] so many rows are kept, the newest */
  constructor(most = MOST) {
    this.most = most;
    /** @type {Map<number, Row>} */
    this.rows = new Map();
    /** The ids of the rows with the same fields. @type {Map<string, number[]>} */
    this.places = new Map();
    this.waiting = null;
    this.next = 0;
    this.changes = 0;
    this.retracted = 0;
    this.dropped = 0;
  }

  /** Take a change in. What an UPDATE_AFTER brings stands where the UPDATE_BEFORE right before it took a row away. */
  add({ kind, fields }) {
    this.changes += 1;
    const isAfter = kind === "UPDATE_AFTER";
    if (!isAfter) this.#settle();
    if (kind === "INSERT") this.#insert(fields);
    else if (isAfter) this.#replace(fields);
    else this.#retract(fields, kind === "UPDATE_BEFORE");
  }

  /** Return the rows; one whose new fields have not come yet is not among them. @returns {Row[]} */
  all() {
    return [...this.rows.values()].filter((row) => row !== this.waiting);
  }

  #insert(fields) {
    const row = { id: (this.next += 1), fields, changed: this.changes };
    this.rows.set(row.id, row);
    this.#note(row);
    if (this.rows.size > this.most) this.#dropOldest();
  }

  #replace(fields) {
    if (this.waiting === null) {
      this.#insert(fields);
      return;
    }
    const row = { id: this.waiting.id, fields, changed: this.changes };
    this.waiting = null;
    this.rows.set(row.id, row);
    this.#note(row);
  }

  #retract(fields, willCome) {
    this.retracted += 1;
    const key = JSON.stringify(fields);
    const ids = this.places.get(key);
    if (ids === undefined) return; // it was dropped
    const id = ids.pop();
    if (ids.length === 0) this.places.delete(key);
    if (willCome) this.waiting = this.rows.get(id);
    else this.rows.delete(id);
  }

  #settle() {
    if (this.waiting !== null) this.rows.delete(this.waiting.id);
    this.waiting = null;
  }

  #note(row) {
    const key = JSON.stringify(row.fields);
    const ids = this.places.get(key);
    if (ids === undefined) this.places.set(key, [row.id]);
    else ids.push(row.id);
  }

  #dropOldest() {
    const [oldest] = this.rows.values();
    this.rows.delete(oldest.id);
    this.dropped += 1;
    const key = JSON.stringify(oldest.fields);
    const ids = (this.places.get(key) ?? []).filter((id) => id !== oldest.id);
    if (ids.length === 0) this.places.delete(key);
    else this.places.set(key, ids);
  }
}
