/** The page: which view is shown for an address, who is logged in, light and dark, and what is said at the bottom. */

import { Api } from "./api.js";
import { setAttribute, setText } from "./dom.js";
import { Rights } from "./rights.js";
import { Job } from "./views/job.js";
import { Login } from "./views/login.js";
import { Lost } from "./views/lost.js";
import { Overview } from "./views/overview.js";

const THEME = "firesteel.theme";

/** What views may use of the page. */
export class App {
  constructor() {
    this.main = document.getElementById("main");
    this.leave = document.getElementById("leave");
    this.api = new Api(() => this.#show(() => new Login(this)));
    /** @param {Error|null} error what keeps the numbers from being new */
    this.report = (error) => {
      setText(document.getElementById("link"), error === null ? "" : error.message);
    };
    this.leave.addEventListener("click", () => this.enter(null));
    document.getElementById("skip").addEventListener("click", (event) => {
      event.preventDefault(); // the address says what is shown
      this.main.focus();
    });
    addEventListener("hashchange", () => this.route());
  }

  /** Show what the address names. */
  route() {
    const [place, id, section, detail] = location.hash.replace(/^#\/?/, "").split("/");
    for (const link of document.querySelectorAll("header nav a")) {
      setAttribute(link, "aria-current", link.hash.slice(2) === (place === "jobs" ? "" : place) ? "page" : null);
    }
    if (place === "submit") this.#fetch(import("./views/submit.js"), ({ Submit }) => new Submit(this));
    else if (place === "sql") this.#fetch(import("./views/sql.js"), ({ Sql }) => this.#sql(Sql));
    else if (place !== "jobs" || !id) this.#show(() => new Overview(this));
    else if (this.view instanceof Job && this.view.id === id) this.view.open(section, detail);
    else this.#show(() => new Job(this, id, section, detail));
  }

  /** @param {string|null} token null logs out */
  enter(token) {
    this.sql?.end();
    this.sql = this.known = undefined;
    this.api.setToken(token);
    this.route();
  }

  /** What the user may do. @returns {Promise<Rights>} */
  rights() {
    this.known ??= this.api.get("page/rights").then(
      (answer) => new Rights(answer),
      (error) => {
        this.known = undefined;
        throw error;
      },
    );
    return this.known;
  }

  /** Show a view whose files are not needed before, unless another one was asked for meanwhile. */
  async #fetch(loading, make) {
    const asked = location.hash;
    const view = await loading.then(
      (module) => () => make(module),
      () => () => new Lost(this),
    );
    if (location.hash === asked) this.#show(view);
  }

  /** SQL goes on while something else is looked at. */
  #sql(Sql) {
    if (this.sql === undefined) this.sql = new Sql(this);
    else this.sql.reopen();
    return this.sql;
  }

  /** @param {string} title of what is shown */
  setTitle(title) {
    const wanted = `${title} - Firesteel`;
    if (document.title !== wanted) document.title = wanted;
  }

  /** Say something that has happened, aloud too. */
  say(text) {
    setText(document.getElementById("notice"), text);
  }

  #show(make) {
    const first = this.view === undefined;
    this.view?.close();
    this.report(null);
    this.say("");
    this.leave.hidden = !this.api.hasToken;
    this.view = make();
    this.setTitle(this.view.title);
    this.main.replaceChildren(this.view.node);
    if (!first) this.main.focus();
  }
}

function themed() {
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem(THEME) ?? (dark.matches ? "dark" : "light");
  const show = () => {
    setAttribute(document.documentElement, "data-theme", localStorage.getItem(THEME));
    setText(button, chosen() === "dark" ? "Light" : "Dark");
  };
  button.addEventListener("click", () => {
    localStorage.setItem(THEME, chosen() === "dark" ? "light" : "dark");
    show();
  });
  dark.addEventListener("change", show);
  show();
}

themed();
new App().route();
