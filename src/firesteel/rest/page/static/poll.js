/** Asks again and again: soon while all is well, less and less often while it is not, and never for a page nobody sees. */

const LONGEST = 30_000;
const SELDOM = 5000;

/** How long to wait after so many failures in a row (milliseconds). */
export function pause(every, failures) {
  return failures === 0 ? every : Math.min(LONGEST, every * 2 ** failures);
}

export class Poller {
  /**
   * @param {(signal: AbortSignal) => Promise<void>} turn asks, and shows the answer
   * @param {(error: Error|null) => void} report gets what went wrong, null once all is well again
   * @param {number} every milliseconds from an answer to the next question
   */
  constructor(turn, report, every) {
    this.turn = turn;
    this.report = report;
    this.every = every;
    this.failures = 0;
    this.timer = 0;
    this.running = false;
    this.again = false;
    this.stopping = new AbortController();
    const { signal } = this.stopping;
    document.addEventListener("visibilitychange", () => this.now(), { signal });
    this.now();
  }

  /** Ask now or, if a question is under way, right after its answer. */
  now() {
    clearTimeout(this.timer);
    this.again = this.running;
    if (!this.running && !this.stopping.signal.aborted && !document.hidden) this.#ask();
  }

  stop() {
    clearTimeout(this.timer);
    this.stopping.abort();
  }

  async #ask() {
    this.running = true;
    const { signal } = this.stopping;
    try {
      await this.turn(signal);
      if (this.failures > 0) this.report(null);
      this.failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      this.failures += 1;
      this.report(error);
    } finally {
      this.running = false;
    }
    const wait = this.again ? 0 : pause(this.every, this.failures);
    if (!signal.aborted && !document.hidden) this.timer = setTimeout(() => this.now(), wait);
  }
}

/**
 * Ask now and then whether the server is there, for a view that asks for nothing by itself.
 * @param {import("./app.js").App} app
 * @param {() => Promise<void>} begin is called first, until it succeeds
 */
export function watching(app, begin) {
  let begun = false;
  const turn = async (signal) => {
    if (begun) await app.api.get("page/rights", signal);
    else await begin();
    begun = true;
  };
  return new Poller(turn, app.report, SELDOM);
}
