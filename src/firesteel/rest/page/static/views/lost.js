/** Stands for a view whose files did not come; the page is loaded anew once the server answers. */

import { element } from "../dom.js";
import { Poller } from "../poll.js";

const EVERY = 2000;

export class Lost {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.title = "Not loaded";
    this.node = element("p", { role: "alert" }, "The files of this view did not come from the server. They are asked for again.");
    this.poller = new Poller((signal) => this.#turn(app, signal), app.report, EVERY);
  }

  close() {
    this.poller.stop();
  }

  async #turn(app, signal) {
    await new Promise((resolve) => setTimeout(resolve, EVERY)); // a server without these files is not asked all the time
    await app.api.get("page/rights", signal);
    if (!signal.aborted) location.reload(); // a browser may not ask twice for a module that it did not get
  }
}
