/** A statement that runs: it is sent, its pages are fetched one after the other, and shown as they come. */

import { element } from "../dom.js";
import { path } from "../api.js";
import { counted } from "../format.js";
import { pause } from "../poll.js";
import { Result } from "./result.js";
import { cause } from "./session.js";

/** A page that does not come is asked for again, in all for about a minute. */
const FIRST_PAUSE = 500;
const PATIENCE = 6;

/**
 * @typedef {{state: (words: string, going: boolean) => void, ended: (outcome: string) => void, failed: (error: Error) => void}} Host
 *   `state` is told how it stands, and whether it can still be cancelled; `ended` or `failed` is called once
 */
export class Run {
  /** @param {import("./session.js").SqlSession} session @param {string} text @param {Object<string, string>} options @param {boolean} looks and changes nothing @param {Host} host */
  constructor(session, text, options, looks, host) {
    this.session = session;
    this.text = text;
    this.options = options;
    this.looks = looks;
    this.host = host;
    this.result = null;
    this.operation = null;
    this.stopping = new AbortController();
    this.waking = null;
    this.wake = () => null;
    this.node = element("div");
    /** All rows, once it has ended; null if it has failed or was cancelled. @type {Promise<(string|null)[][]|null>} */
    this.whole = new Promise((resolve) => (this.resolve = resolve));
    /** Fulfilled once the next statement need not wait any more: one that `looks` was accepted, another one has ended. */
    this.settled = new Promise((resolve) => (this.settle = resolve));
  }

  start() {
    this.done = this.#all();
  }

  /** Fetch no more for now. */
  pause() {
    this.waking ??= new Promise((resolve) => (this.wake = resolve));
  }

  resume() {
    this.waking = null;
    this.wake();
  }

  /** End it, as the user wants; what has come stays. */
  async cancel() {
    this.stopping.abort();
    this.resume();
    this.host.state("It is being ended.", false);
    await this.done;
    this.#end("cancelled");
  }

  /** End it, since another one takes its place. */
  stop() {
    if (!this.over) this.cancel();
  }

  async #all() {
    try {
      this.operation = await this.session.execute(this.text, this.options);
      if (this.looks) this.settle();
      await this.#follow();
    } catch (error) {
      if (!this.stopping.signal.aborted) this.#fail(error);
    }
    this.resolve(null);
    this.settle();
    await this.operation?.close().catch((error) => (this.untold = error.message));
  }

  async #follow() {
    const { signal } = this.stopping;
    if (!signal.aborted) this.host.state("Running.", true);
    while (!this.operation.ended) {
      await this.waking;
      if (signal.aborted) return;
      const page = await this.#page(signal);
      if (page === null) continue;
      this.#take(page);
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    this.#end("ended");
  }

  /** Fetch the next page, again if no answer comes: the same page can be asked for once more. */
  async #page(signal) {
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.operation.next(signal);
      } catch (error) {
        if (error.status !== 0 || failures > PATIENCE || signal.aborted) throw error;
        this.host.state(`${error.message} It is asked again.`, true);
        await new Promise((resolve) => setTimeout(resolve, pause(FIRST_PAUSE, failures)));
      }
    }
  }

  #take(page) {
    if (this.result === null) {
      this.result = new Result(page.results.columns, page.isQueryResult);
      this.job = page.jobID ?? null;
      this.isQuery = page.isQueryResult;
      this.node.append(...(this.job !== null && !this.isQuery ? [this.#startedJob()] : []), this.result.node);
    }
    if (page.results.data.length === 0 && this.result.log.changes > 0) return;
    this.result.add(page.results.data);
    this.result.show();
    if (this.isQuery) this.host.state(`Running, ${counted(this.result.log.changes, "change")} so far.`, true);
  }

  #startedJob() {
    return element("p", {}, "The job was started: ", element("a", { href: path`#/jobs/${this.job}` }, this.job));
  }

  #end(outcome) {
    if (this.over) return;
    this.over = true;
    this.settle();
    const rows = this.result?.log.all() ?? [];
    const ended = this.untold === undefined ? "Cancelled. What had come stays." : `The server could not be told to end it: ${this.untold}`;
    this.host.state(outcome === "cancelled" ? ended : `Done, ${counted(rows.length, "row")}.`, false);
    this.host.ended(outcome);
    this.resolve(outcome === "cancelled" ? null : rows.map((row) => row.fields));
  }

  #fail(error) {
    this.over = true;
    this.host.state("Failed.", false);
    this.host.ended(`failed: ${cause(error.message).split("\n")[0].slice(0, 160)}`);
    this.host.failed(error);
  }
}
