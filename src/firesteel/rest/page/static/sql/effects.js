/** What a statement will do beyond an answer, in words, so that it is asked for first. */

import { counted } from "../format.js";

const JOB = "It becomes a job of this cluster, which takes slots, and goes on when this page is closed, until its input ends or somebody stops it.";

/**
 * @param {import("./tokens.js").Statement} statement
 * @returns {{title: string, text: string, action: string, danger: boolean}|null} null: it only looks, or defines
 */
export function effect({ tokens }) {
  const keys = tokens.map((token) => token.key);
  const begins = (...words) => words.every((word, place) => word === keys[place]);
  const after = (word) => named(tokens, keys.indexOf(word) + 1);
  if (begins("INSERT")) return job(`INSERT into ${named(tokens, keys.indexOf("TABLE") === 2 ? 3 : 2)}`);
  if (begins("EXECUTE", "STATEMENT", "SET") || begins("BEGIN", "STATEMENT", "SET")) return job("All INSERTs of the set, as one job");
  if (begins("EXECUTE", "PLAN") || begins("COMPILE", "AND", "EXECUTE")) return job("The job of a compiled plan");
  if (begins("CREATE") && keys.includes("AS") && keys.includes("TABLE") && keys.slice(keys.indexOf("AS")).some((key) => key === "SELECT")) {
    return job(`A new table ${after("TABLE")}, filled by a query`);
  }
  if (begins("STOP", "JOB")) return lost("Stop a job", "The job ends after its running epoch.", "Stop it");
  if (begins("DROP")) return lost(tokens.slice(0, 6).map((token) => token.text).join(" "), "Its definition goes from the catalog. Statements that name it fail from then on.", "Drop it");
  if (begins("DELETE") || begins("UPDATE") || begins("TRUNCATE")) return lost(`${tokens[0].text} ${named(tokens, 1)}`, "Rows of the table change or go for everybody who reads it.", tokens[0].text.toUpperCase());
  return null;
}

/**
 * What several statements will do, as one question.
 * @param {import("./tokens.js").Statement[]} statements
 */
export function effects(statements) {
  const found = statements.map(effect).filter((each) => each !== null);
  if (found.length === 0) return null;
  const text = found.map((each) => `${each.title}: ${each.text}`).join(" ");
  return { title: `Run ${counted(statements.length, "statement")}`, text, action: "Run all", danger: found.some((each) => each.danger) };
}

/** Whether a statement is a query, which nothing is lost with. @param {import("./tokens.js").Statement} statement */
export function looks({ tokens }) {
  return ["SELECT", "WITH", "VALUES", "("].includes(tokens[0].key);
}

function job(title) {
  return { title, text: JOB, action: "Start the job", danger: false };
}

function lost(title, text, action) {
  return { title, text, action, danger: true };
}

/** The name that begins at a token: `a.b`; the word TABLE or FROM before it is left out. */
function named(tokens, place) {
  let at = place;
  while (["TABLE", "FROM", "INTO", "IF", "NOT", "EXISTS"].includes(tokens[at]?.key)) at += 1;
  let name = tokens[at]?.text ?? "a table";
  while (tokens[at + 1]?.key === "." && tokens[at + 2] !== undefined) {
    name += `.${tokens[at + 2].text}`;
    at += 2;
  }
  return name;
}
