/** Asks for a token. */

import { labelled } from "../dialog.js";
import { element } from "../dom.js";

export class Login {
  /** @param {import("../app.js").App} app */
  constructor(app) {
    this.title = "Log in";
    const { input, node } = labelled({ name: "token", label: "Token", type: "password" });
    const submitted = (event) => {
      event.preventDefault();
      app.enter(input.value.trim());
    };
    const why = app.api.hasToken ? "The server does not know this token." : "This server asks for a token.";
    const hint = "It is kept until you close this tab.";
    this.node = element(
      "form",
      { class: "login", on: { submit: submitted } },
      element("h1", {}, "Log in"),
      element("p", {}, `${why} ${hint}`),
      node,
      element("div", { class: "buttons" }, element("button", { type: "submit", class: "primary" }, "Log in")),
    );
  }

  close() {}
}
