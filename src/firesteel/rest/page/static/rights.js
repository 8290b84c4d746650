/** What the user may do here, and why not. The server decides; what is not allowed is only not offered. */

import { element } from "./dom.js";

const RANKS = ["viewer", "operator", "submitter"];

export class Rights {
  /** @param {{right: string, submission: boolean, secrets: string[]}} answer of /page/rights */
  constructor({ right, submission, secrets }) {
    this.right = right;
    this.submission = submission;
    this.secrets = secrets;
  }

  /** Return why something is not allowed that takes a right, null if it is allowed. @param {string} needed */
  refusal(needed) {
    if (RANKS.indexOf(this.right) < RANKS.indexOf(needed)) return `Your token is that of ${aOr(this.right)}; this takes the right of ${aOr(needed)}.`;
    return needed === "submitter" && !this.submission ? "Submission is switched off on this cluster." : null;
  }
}

/** Say that something is not allowed, and why. @param {string} what @param {string} reason */
export function refused(what, reason) {
  return element("p", { class: "refused", role: "note" }, element("strong", {}, `${what} not allowed. `), reason);
}

function aOr(right) {
  return `${/^[aeiou]/.test(right) ? "an" : "a"} ${right}`;
}
