/** SQL: an editor, and below it what the statement that was run last gives, while it comes. */

import { ask } from "../dialog.js";
import { element, once, setText, titled } from "../dom.js";
import { duration, moment } from "../format.js";
import { watching } from "../poll.js";
import { refused } from "../rights.js";
import { Editor } from "../sql/editor.js";
import { effect, effects, looks } from "../sql/effects.js";
import { forgetAll, remember, remembered } from "../sql/history.js";
import { filledIn, parameters } from "../sql/parameters.js";
import { ParameterFields } from "../sql/parameter_fields.js";
import { drawnPlan } from "../sql/plan.js";
import { Run } from "../sql/run.js";
import { cause, pointedAt, SqlSession } from "../sql/session.js";
import { offsetOf, placeOf, statementAt, statements, tokens } from "../sql/tokens.js";

const DRAFT = "firesteel.sql.draft";
const EXAMPLE = `-- A table that makes up rows, and a query whose rows change.
CREATE TEMPORARY TABLE clicks (
  page STRING,
  cost INT
) WITH (
  'connector' = 'datagen',
  'rows-per-second' = '5',
  'fields.page.length' = '1',
  'fields.cost.min' = '1',
  'fields.cost.max' = '100'
);

SELECT page, COUNT(*) AS hits FROM clicks GROUP BY page;
`;
const ERROR = "sql-error";
const LONGEST_HEADING = 80;

export class Sql {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.app = app;
    this.title = "SQL";
    this.run = null;
    /** The statements that were sent and are not settled; another set once the rest of these is not to run. */
    this.waiting = new Set();
    this.turn = Promise.resolve();
    this.session = new SqlSession(app.api, () => app.say("The session had ended after a while without a page. A new one has begun, without the tables of the old one."));
    this.node = element("div", {}, element("h1", {}, "SQL"));
    this.begun = false;
    this.poller = watching(app, () => this.#begin());
  }

  /** What is not looked at is not asked for; a query waits then, once what it gave fills its buffer. */
  close() {
    this.poller.stop();
    this.run?.pause();
  }

  /** The page is shown again. */
  reopen() {
    this.run?.resume();
    this.poller = watching(this.app, () => this.#begin());
  }

  /** End the session: somebody has logged out. */
  end() {
    this.#drop();
    this.run?.stop();
    this.session.close();
  }

  async #begin() {
    const rights = await this.app.rights();
    if (this.begun) return;
    this.begun = true;
    const reason = rights.refusal("submitter");
    if (reason !== null) this.node.append(refused("Statements are", reason));
    else this.#build();
  }

  #build() {
    this.editor = new Editor(sessionStorage.getItem(DRAFT) ?? EXAMPLE, {
      run: (step) => this.#execute(step),
      changed: () => this.#changed(),
      words: (text, cursor) => this.#words(text, cursor),
    });
    this.mode = element("select", {}, element("option", { value: "streaming" }, "Streaming: follow the input"), element("option", { value: "batch" }, "Batch: what there is now"));
    this.parallelism = element("input", { type: "number", min: 1, step: 1, placeholder: "as configured" });
    this.fields = new ParameterFields();
    this.runs = button("Run", () => this.#execute(false), "primary");
    this.all = button("Run all", once(() => this.#executeAll()));
    this.plans = button("Plan", () => this.#explain());
    this.cancels = button("Cancel", () => this.#cancel(), "danger");
    this.cancels.disabled = true;
    this.state = element("p", { class: "facts", role: "status" });
    this.error = element("div", { id: ERROR, role: "alert" });
    this.place = element("section", { "aria-label": "Result" });
    this.past = element("ul", { class: "past" });
    const history = element("details", { on: { toggle: () => this.#showPast() } }, element("summary", {}, "Statements that were run in this browser"), this.past);
    const buttons = element("div", { class: "buttons" }, this.runs, this.all, this.plans, this.cancels);
    const controls = element("div", { class: "row" }, buttons, titled("Mode", this.mode), titled("Parallelism", this.parallelism));
    this.node.append(this.editor.node, this.fields.node, controls, this.state, this.error, this.place, history);
    this.#changed();
  }

  /** The statement that would run: the first that is selected, or what the cursor is in. */
  #statement() {
    const { selection, text, cursor } = this.editor;
    return selection === null ? statementAt(text, cursor) : (this.#chosen()[0] ?? null);
  }

  /** The statements that are selected, all if nothing is. */
  #chosen() {
    const { selection, text } = this.editor;
    const { start: shift, end } = selection ?? { start: 0, end: text.length };
    const moved = (span) => ({ ...span, start: span.start + shift, end: span.end + shift });
    return statements(text.slice(shift, end)).map((each) => ({ ...moved(each), tokens: each.tokens.map(moved) }));
  }

  #changed() {
    const found = this.#statement();
    if (this.active?.start !== found?.start || this.active?.text !== found?.text) {
      this.active = found;
      this.editor.showActive(found);
      this.fields.show(found === null ? [] : parameters(found));
    }
    sessionStorage.setItem(DRAFT, this.editor.text);
  }

  async #words(text, cursor) {
    const found = statementAt(text, cursor);
    const [start, end] = found === null || cursor > text.length ? [cursor, cursor] : [found.start, Math.max(found.end, cursor)];
    const between = text.slice(found?.end ?? cursor, cursor);
    const begun = tokens(between).some((token) => token.key === ";") ? cursor : Math.min(start, cursor);
    try {
      return await this.session.complete(text.slice(begun, end), [...text.slice(begun, cursor)].length);
    } catch {
      return []; // one types on; a statement that is run says what is wrong
    }
  }

  #options() {
    const options = { "execution.runtime-mode": this.mode.value };
    if (this.parallelism.value !== "") options["parallelism.default"] = this.parallelism.value;
    return options;
  }

  async #execute(step) {
    const statement = this.#ready();
    if (statement === null) return;
    const will = effect(statement);
    if (will !== null && (await ask(will)) === null) return;
    if (step) this.#step(statement);
    this.#start(statement, statement.filled.text, (run) => this.place.replaceChildren(run.node));
  }

  /** Run statements one after the other, from the first one on, until one fails; each is shown. */
  async #executeAll() {
    const chosen = this.#chosen();
    const wanted = chosen.flatMap(parameters);
    const unknown = wanted.some(({ name }) => !this.fields.knows(name));
    this.fields.show(wanted);
    const all = unknown ? null : this.#filled(chosen);
    if (unknown) this.error.replaceChildren(element("p", { class: "error" }, "The statements have parameters. Fill in their values, and run all once more."));
    if (all === null) return;
    const will = effects(all);
    if (will !== null && (await ask(will)) === null) return;
    all.forEach((statement, place) => {
      const shown = (run) => this.place.append(element("h2", {}, statement.text.split("\n")[0].slice(0, LONGEST_HEADING)), run.node);
      this.#start(statement, statement.filled.text, shown, { number: place + 1, of: all.length });
    });
  }

  #explain() {
    const statement = this.#ready();
    if (statement === null) return;
    const ahead = /^EXPLAIN\b/i.test(statement.filled.text) ? "" : "EXPLAIN JSON_EXECUTION_PLAN ";
    const shown = (run) => run.whole.then((rows) => rows !== null && this.place.replaceChildren(drawnPlan(rows.map(([text]) => text).join("\n"))));
    this.#start(statement, ahead + statement.filled.text, shown, { ahead: ahead.length });
  }

  /** Return the statement with its parameters filled in, null if there is nothing to run. */
  #ready() {
    const statement = this.#statement();
    return this.#filled(statement === null ? [] : [statement])?.[0] ?? null;
  }

  #filled(chosen) {
    this.error.replaceChildren();
    if (chosen.length === 0) {
      setText(this.state, "There is no statement to run.");
      return null;
    }
    try {
      return chosen.map((statement) => ({ ...statement, filled: filledIn(statement, this.fields.values()) }));
    } catch (error) {
      this.error.replaceChildren(element("p", { class: "error" }, error.message));
      return null;
    }
  }

  #step(statement) {
    const next = statements(this.editor.text).find((each) => each.start > statement.start);
    if (next !== undefined) this.editor.goTo(next.start);
  }

  /**
   * Run a statement after those that were sent before it, unless one of them fails or is cancelled. A query gives way to it.
   * One that is sent twice before it has settled runs once.
   * @param {{ahead?: number, number?: number, of?: number}} [part] `ahead`: so many characters of the text are before the
   *   statement; `number` and `of`: it is one of several, each of which waits for the end of the one before it
   */
  #start(statement, text, shown, part = {}) {
    const { waiting } = this;
    const known = `${statement.start} ${text}`;
    if (waiting.has(known)) return;
    waiting.add(known);
    const [options, before] = [this.#options(), this.editor.text];
    this.turn = this.turn.then(async () => {
      if (waiting === this.waiting) await this.#send(statement, { ahead: 0, number: 1, of: 1, ...part, text, options, before }, shown);
      waiting.delete(known);
    });
  }

  /** Let statements that wait for others not run. */
  #drop() {
    this.waiting = new Set();
  }

  async #send(statement, { text, ahead, number, of, options, before }, shown) {
    this.run?.stop();
    this.editor.showWrong(null);
    if (number === 1) this.place.replaceChildren();
    const begun = Date.now();
    const which = of === 1 ? "" : `${number} of ${of}: `;
    const run = new Run(this.session, text, options, ahead === 0 && looks(statement), {
      state: (words, going) => this.#going(run, which + words, going),
      ended: (outcome) => {
        remember({ text: statement.text, at: begun, outcome: `${outcome} after ${duration(Date.now() - begun)}` });
        this.#showPast();
      },
      failed: (error) => {
        this.#drop();
        this.#failed(error, statement, text, ahead, before);
      },
    });
    this.run = run;
    this.#going(run, `${which}Sent.`, true);
    run.start();
    shown(run);
    await (of === 1 ? run.settled : run.whole);
  }

  #going(run, words, going) {
    if (run !== this.run) return;
    this.cancels.disabled = !going;
    setText(this.state, words);
  }

  #failed(error, statement, sent, ahead, before) {
    const reason = cause(error.message);
    const pointed = pointedAt(reason);
    const unchanged = this.editor.text === before;
    if (pointed === null || !unchanged) {
      this.error.replaceChildren(element("pre", { class: "error", tabindex: 0 }, reason));
      return;
    }
    const place = Math.max(0, offsetOf(sent, pointed.line, pointed.column) - ahead);
    const start = Math.min(statement.start + statement.filled.back(place), statement.end);
    const token = tokens(this.editor.text).find((each) => each.start <= start && each.end > start);
    const { line, column } = placeOf(this.editor.text, start);
    const there = button(`Line ${line}, column ${column}`, () => this.editor.goTo(start), "link");
    this.error.replaceChildren(element("p", { class: "error" }, there), element("pre", { class: "error", tabindex: 0 }, reason.replace(pointed.text, `(line ${line}, column ${column})`)));
    this.editor.showWrong({ start, end: token?.end ?? start + 1 }, ERROR);
  }

  async #cancel() {
    this.#drop();
    await this.run?.cancel();
  }

  #showPast() {
    const use = ({ text }) => {
      const { editor } = this;
      editor.goTo(editor.text.length);
      const apart = editor.text.trim() === "" || /;\s*$/.test(editor.text) ? "\n" : ";\n";
      editor.replace({ start: editor.text.length, end: editor.text.length }, `${apart}${text};\n`);
      editor.goTo(editor.text.length - text.length - 2);
    };
    const items = remembered().map((entry) =>
      element("li", {}, element("pre", {}, entry.text), element("span", { class: "facts" }, `${moment(entry.at)}, ${entry.outcome} `), button("Put into the editor", () => use(entry))),
    );
    const forget = button("Forget them all", () => {
      forgetAll();
      this.#showPast();
    });
    this.past.replaceChildren(...items, element("li", {}, items.length === 0 ? "There are none." : forget));
  }
}

function button(name, clicked, kind) {
  return element("button", { type: "button", class: kind ?? null, on: { click: clicked } }, name);
}
