/** A session at the SQL gateway, which lives as long as the tab, and its statements (Flink's SQL gateway REST, V4). */

import { path } from "../api.js";

const KEY = "firesteel.sql.session";
const BEAT = 60_000;
const SOON = 100;

/** Return the words of an error as a statement's author needs them: the cause, without what a client of Flink prints. */
export function cause(message) {
  const from = message.lastIndexOf("Caused by: ");
  return from < 0 ? message : message.slice(from + "Caused by: ".length).split("\n\tat ")[0];
}

/** Return where an error points, counted from 1, and its words for that; null if it points nowhere. */
export function pointedAt(message) {
  const found = /\(line (\d+), column (\d+)\)/.exec(message);
  return found === null ? null : { text: found[0], line: Number(found[1]), column: Number(found[2]) };
}

export class SqlSession {
  /** @param {import("../api.js").Api} api @param {() => void} onLost is called when an earlier session has ended */
  constructor(api, onLost) {
    this.api = api;
    this.onLost = onLost;
    this.beats = setInterval(() => this.#beat(), BEAT);
  }

  /** End the session, and what runs in it. */
  async close() {
    clearInterval(this.beats);
    const handle = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    if (handle !== null) await this.api.send("DELETE", path`v4/sessions/${handle}`).catch(() => null); // it ends by itself
  }

  /**
   * Begin to execute a statement.
   * @param {string} statement @param {Object<string, string>} options that hold for it alone
   * @returns {Promise<Operation>}
   */
  async execute(statement, options) {
    const place = path`v4/sessions/${await this.#handle()}`;
    const { operationHandle } = await this.api.send("POST", `${place}/statements`, { statement, executionConfig: options });
    return new Operation(this.api, place + path`/operations/${operationHandle}`);
  }

  /** @param {string} statement @param {number} position in characters @returns {Promise<string[]>} what may stand there */
  async complete(statement, position) {
    const place = path`v4/sessions/${await this.#handle()}`;
    return (await this.api.send("POST", `${place}/complete-statement`, { statement, position })).candidates;
  }

  /** Return the handle of a session that lives. */
  async #handle() {
    const known = sessionStorage.getItem(KEY);
    if (known !== null && (await this.#lives(known))) return known;
    if (known !== null) this.onLost();
    const { sessionHandle } = await this.api.send("POST", "v4/sessions", { sessionName: "web page" });
    sessionStorage.setItem(KEY, sessionHandle);
    return sessionHandle;
  }

  async #lives(handle) {
    try {
      await this.api.send("POST", path`v4/sessions/${handle}/heartbeat`);
      return true;
    } catch (error) {
      if (error.status !== 404 && error.status !== 503) throw error;
      return false;
    }
  }

  #beat() {
    const handle = sessionStorage.getItem(KEY);
    if (handle !== null) this.#lives(handle).catch(() => null); // the next statement says what is wrong
  }
}

/** A statement that was sent. */
export class Operation {
  constructor(api, place) {
    this.api = api;
    this.place = place;
    this.token = 0;
    this.ended = false;
  }

  /**
   * Return the next page of its results, after a moment if there is nothing new; null if it is not ready. Fields are texts.
   * @param {AbortSignal} signal
   * @throws {ApiError} the statement's error
   */
  async next(signal) {
    const page = await this.api.get(`${this.place}/result/${this.token}?rowFormat=PLAIN_TEXT`, signal);
    if (page.resultType === "NOT_READY") {
      await new Promise((resolve) => setTimeout(resolve, SOON));
      return null;
    }
    if (page.resultType === "EOS") this.ended = true;
    else this.token += 1;
    return page;
  }

  /** End it, and its job if it is a query, and forget what it has not given yet. */
  async close() {
    try {
      await this.api.send("DELETE", `${this.place}/close`);
    } catch (error) {
      if (error.status !== 404) throw error; // it went with its session
    }
  }
}
