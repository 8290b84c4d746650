/** Submit: a program is uploaded, or chosen from those that were, and becomes a job. */

import { path } from "../api.js";
import { split } from "../arguments.js";
import { ask } from "../dialog.js";
import { element, setText, table, titled } from "../dom.js";
import { bytes, counted, moment } from "../format.js";
import { watching } from "../poll.js";
import { refused } from "../rights.js";

const NEW = "";

export class Submit {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.app = app;
    this.title = "Submit";
    this.place = element("div");
    const sql = element("p", { class: "facts" }, "Statements are submitted on the page ", element("a", { href: "#/sql" }, "SQL"), ": an INSERT there becomes a job, too.");
    this.node = element("div", {}, element("h1", {}, "Submit a program"), sql, this.place);
    this.poller = watching(app, () => this.#begin());
  }

  close() {
    this.poller.stop();
  }

  async #begin() {
    const rights = await this.app.rights();
    const reason = rights.refusal("submitter");
    if (reason !== null) {
      this.place.replaceChildren(refused("Submitting is", reason));
      return;
    }
    if (this.go === undefined) this.place.replaceChildren(this.#form(rights.secrets), this.#programs());
    await this.#load();
  }

  #form(secrets) {
    this.program = element("select", { on: { change: () => this.#chosen() } });
    this.file = element("input", { type: "file", accept: ".py,.zip", required: true });
    this.upload = titled("File", this.file, "A Python file, or a zip archive of a package.");
    this.entry = element("input", { type: "text", autocomplete: "off", placeholder: "__main__.py or main.py" });
    this.args = element("input", { type: "text", autocomplete: "off", class: "path" });
    this.parallelism = element("input", { type: "number", min: 1, step: 1, placeholder: "the program's own" });
    this.savepoint = element("input", { type: "text", autocomplete: "off" });
    this.lenient = element("input", { type: "checkbox" });
    this.pyflink = element("input", { type: "checkbox" });
    this.options = element("textarea", { rows: 3, class: "path", spellcheck: "false", placeholder: "execution.checkpointing.interval: 10 s" });
    this.secrets = secrets.map((name) => element("input", { type: "checkbox", value: name }));
    this.reason = element("p", { class: "error", role: "alert" });
    this.go = element("button", { type: "submit", class: "primary" }, "Submit");
    const names = this.secrets.map((input) => checkbox(input.value, input));
    const none = element("small", {}, "This cluster has none. They are made known to it when it is started: --secret NAME.");
    const more = element(
      "details",
      {},
      element("summary", {}, "More"),
      titled("Begin from a savepoint", this.savepoint, "Its directory. Empty: with empty state."),
      checkbox("Leave out state that the program does not have", this.lenient),
      checkbox("It is written for PyFlink: pyflink is Firesteel", this.pyflink),
      titled("Options", this.options, "One a line, KEY: VALUE."),
    );
    return element(
      "form",
      { class: "submit", on: { submit: (event) => this.#submitted(event) } },
      titled("Program", this.program),
      this.upload,
      titled("Entry", this.entry, "The file or the module of an archive that runs; a file of its own needs none."),
      titled("Arguments", this.args, "As in a shell: spaces part them, quotes keep them together."),
      titled("Parallelism", this.parallelism, "So many slots it takes."),
      element("fieldset", { class: "secrets" }, element("legend", {}, "Secrets that it gets, by name"), ...(names.length === 0 ? [none] : names)),
      more,
      element("div", { class: "buttons" }, this.go),
      this.reason,
    );
  }

  #programs() {
    const { node, body } = table("Programs that were uploaded", ["Program", "Uploaded", "Entry", "What to do"]);
    this.body = body;
    return node;
  }

  async #load() {
    const { files } = await this.app.api.get("programs");
    this.files = files;
    const known = this.files.map((file) => element("option", { value: file.id }, `${file.name}, of ${moment(file.uploaded)}`));
    this.program.replaceChildren(element("option", { value: NEW }, "Upload a new one"), ...known);
    this.body.replaceChildren(...this.files.map((file) => this.#listed(file)));
    this.#chosen();
  }

  #listed(file) {
    const use = element("button", { type: "button", "aria-label": `Use ${file.name}`, on: { click: () => this.#use(file) } }, "Use");
    const remove = element("button", { type: "button", class: "danger", "aria-label": `Delete ${file.name}`, on: { click: () => this.#delete(file) } }, "Delete");
    const cells = [moment(file.uploaded), file.entry[0]?.name ?? "must be named"].map((text) => element("td", {}, text));
    return element("tr", {}, element("th", { scope: "row" }, file.name), ...cells, element("td", {}, element("div", { class: "buttons" }, use, remove)));
  }

  #use(file) {
    this.program.value = file.id;
    this.#chosen();
    this.program.focus();
  }

  #chosen() {
    const isNew = this.program.value === NEW;
    this.upload.hidden = !isNew;
    this.file.required = isNew;
  }

  async #delete(file) {
    const question = { title: `Delete ${file.name}`, text: "The uploaded program goes. Jobs that were started from it have copies of their own, and go on.", action: "Delete", danger: true };
    if ((await ask(question)) === null) return;
    await this.#guarded(async () => {
      await this.app.api.send("DELETE", path`programs/${file.id}`);
      await this.#load();
    });
  }

  async #submitted(event) {
    event.preventDefault();
    await this.#guarded(async () => {
      const body = this.#body();
      const isNew = this.program.value === NEW;
      const file = this.file.files[0];
      const name = isNew ? file.name : this.files.find((each) => each.id === this.program.value).name;
      const question = { title: `Submit ${name}`, text: await this.#explained(body, isNew ? file : null), action: "Submit" };
      if ((await ask(question)) === null) return;
      const program = isNew ? await this.#uploaded(file) : this.program.value;
      const { jobid } = await this.app.api.send("POST", path`programs/${program}/run`, body);
      location.hash = path`#/jobs/${jobid}`;
    });
  }

  /** Return what is sent to start the job. @throws {Error} for what cannot be read */
  #body() {
    const entry = this.entry.value.trim();
    const body = { programArgsList: split(this.args.value), flinkConfiguration: options(this.options.value), pyflink: this.pyflink.checked };
    if (entry !== "") body[entry.endsWith(".py") ? "entryFile" : "entryClass"] = entry;
    if (this.parallelism.value !== "") body.parallelism = Number(this.parallelism.value);
    if (this.savepoint.value.trim() !== "") body.savepointPath = this.savepoint.value.trim();
    if (this.lenient.checked) body.allowNonRestoredState = true;
    body.secrets = this.secrets.filter((input) => input.checked).map((input) => input.value);
    return body;
  }

  /** Say what will happen. */
  async #explained(body, file) {
    const overview = await this.app.api.get("overview");
    const wanted = body.parallelism ?? Number(body.flinkConfiguration["parallelism.default"] ?? 1);
    const free = overview["slots-available"];
    const parts = [file === null ? "The program runs on this cluster" : `The file (${bytes(file.size)}) is uploaded, and runs on this cluster`, " as the server's user."];
    parts.push(` It takes ${counted(wanted, "slot")}; ${free} of ${overview["slots-total"]} are free`, wanted > free ? ", so it waits until others have ended." : ", so it starts at once.");
    if (body.programArgsList.length > 0) parts.push(` Its arguments are ${body.programArgsList.map((each) => JSON.stringify(each)).join(", ")}.`);
    if (body.secrets.length > 0) parts.push(` It can read the secrets ${body.secrets.join(", ")}.`);
    if (body.savepointPath !== undefined) parts.push(` Its state is that of the savepoint ${body.savepointPath}.`);
    return parts.join("");
  }

  async #uploaded(file) {
    const form = new FormData();
    form.append("jarfile", file);
    setText(this.go, "Uploading");
    const { filename } = await this.app.api.upload("programs", form);
    return filename.split("/").pop();
  }

  async #guarded(what) {
    setText(this.reason, "");
    this.go.disabled = true;
    try {
      await what();
    } catch (error) {
      setText(this.reason, error.message);
    } finally {
      this.go.disabled = false;
      setText(this.go, "Submit");
    }
  }
}

/** Read lines of KEY: VALUE. @throws {Error} for another line */
export function options(text) {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const read = lines.map((line) => /^\s*([^:=\s]+)\s*[:=]\s*(.*?)\s*$/.exec(line) ?? line);
  const wrong = read.find((found) => typeof found === "string");
  if (wrong !== undefined) throw new Error(`An option is a line of KEY: VALUE, and this is none: ${wrong.trim()}`);
  return Object.fromEntries(read.map(([, key, value]) => [key, value]));
}

function checkbox(words, input) {
  return element("label", { class: "checkbox" }, input, element("span", {}, words));
}
