/** What a job was started with. */

import { path } from "../api.js";
import { element, KeyedList, row, setText, table } from "../dom.js";
import { moment } from "../format.js";

export class Configuration {
  /** @param {import("../app.js").App} app @param {string} id */
  constructor(app, id) {
    this.app = app;
    this.id = id;
    this.shape = null;
    const { node, body } = table("Settings", ["Name", "Value"]);
    this.rows = new KeyedList(body, () => row(["", "path"]), ({ cells }, pair) => pair.forEach((text, place) => setText(cells[place], text)));
    this.node = element("div", {}, node);
  }

  async update(flow, signal) {
    if (flow.shape === this.shape) return;
    const api = this.app.api;
    const [job, config, checkpoints] = await Promise.all(
      [path`jobs/${this.id}`, path`jobs/${this.id}/config`, path`jobs/${this.id}/checkpoints/config`].map((each) => api.get(each, signal)),
    );
    this.shape = flow.shape;
    const execution = config["execution-config"];
    const settings = [
      ["Id", job.jid],
      ["Mode", job["job-type"]],
      ["Started", moment(job["start-time"])],
      ["State directory", job["state-directory"]],
      ["Parallelism", execution["job-parallelism"]],
      ["Max parallelism", job.maxParallelism],
      ["Epochs aim at", `${checkpoints.interval} ms`],
      ["Restart strategy", execution["restart-strategy"]],
      ...Object.entries(execution["user-config"]),
    ];
    this.rows.show(settings, ([name]) => name);
  }
}
