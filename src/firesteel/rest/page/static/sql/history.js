/** The statements that were run in this browser, newest first. Values of options that are secrets are not kept. */

const KEY = "firesteel.sql.history";
const MOST = 100;
const SECRET = /('[^']*(?:password|secret|token|apikey|api-key|api\.key|credential|jaas\.config|basic-auth|auth-params|access-key|access\.key|account\.key)[^']*'\s*=\s*)'(?:[^']|'')*'/gi;

/** @typedef {{text: string, at: number, outcome: string}} Entry */

/** Return a statement without the values of options whose names say that they are secret. */
export function withoutSecrets(text) {
  return text.replace(SECRET, "$1'***'");
}

/** @returns {Entry[]} */
export function remembered() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((each) => typeof each?.text === "string") : [];
  } catch {
    return []; // another program has written there
  }
}

/** Keep a statement with how it ended; one that was run before moves to the top. @param {Entry} entry */
export function remember({ text, at, outcome }) {
  const entry = { text: withoutSecrets(text), at, outcome };
  const others = remembered().filter((each) => each.text !== entry.text);
  localStorage.setItem(KEY, JSON.stringify([entry, ...others].slice(0, MOST)));
}

export function forgetAll() {
  localStorage.removeItem(KEY);
}
