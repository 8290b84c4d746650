/** The plan of a query, drawn: what EXPLAIN JSON_EXECUTION_PLAN says of its operators. */

import { element, table } from "../dom.js";
import { Boxes, wrapped } from "../boxes.js";

const HEAD = "== Physical Execution Plan ==";
const LETTERS = 31;
const LINES = 4;

/** @typedef {{id: number, type: string, contents: string, parallelism: number, predecessors?: {id: number, ship_strategy: string}[]}} PlanNode */

/** Return the operators in what EXPLAIN answers, and the text before them. @returns {{text: string, nodes: PlanNode[]}} */
export function readPlan(answer) {
  const at = answer.indexOf(HEAD);
  const nodes = at < 0 ? [] : JSON.parse(answer.slice(at + HEAD.length)).nodes;
  return { text: at < 0 ? answer : answer.slice(0, at).trimEnd(), nodes };
}

/** Return the name of an operator, and what it does: `Calc`, `select=[...]`. */
export function parts(contents) {
  const whole = contents.replace(/^\[\d+\]:\s*/, "");
  const found = /^([\w: .-]+?)\((.*)\)$/s.exec(whole);
  return found === null ? { name: whole, rest: "" } : { name: found[1], rest: found[2] };
}

/** @param {string} answer of EXPLAIN @returns {HTMLElement} */
export function drawnPlan(answer) {
  const { text, nodes } = readPlan(answer);
  const items = nodes.map((node) => {
    const { name, rest } = parts(node.contents);
    const lines = [wrapped(name, LETTERS - 3, 1)[0], ...wrapped(rest, LETTERS, LINES - 1)];
    return { id: String(node.id), lines, title: `${node.contents}\nparallelism ${node.parallelism}` };
  });
  const arrows = nodes.flatMap((node) =>
    (node.predecessors ?? []).map((edge) => ({ from: String(edge.id), to: String(node.id), text: edge.ship_strategy.toLowerCase() })),
  );
  const { node: list, body } = table("Operators, sources first", ["Operator", "What it does", "Parallelism#", "Reads"]);
  body.append(...nodes.map((node) => listed(node, nodes)));
  const label = `The plan: ${nodes.length} operators. The table below has the same.`;
  const picture = items.length === 0 ? null : element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Plan" }, new Boxes(items, arrows, { label, width: 236 }).node);
  const words = element("details", {}, element("summary", {}, "The plan as text"), element("pre", { tabindex: 0 }, text));
  return element("div", {}, ...[picture, items.length === 0 ? null : list, words].filter((each) => each !== null));
}

function listed(node, nodes) {
  const { name, rest } = parts(node.contents);
  const nameOf = (id) => parts(nodes.find((each) => each.id === id)?.contents ?? "").name;
  const reads = (node.predecessors ?? []).map((edge) => `${nameOf(edge.id)} (${edge.ship_strategy.toLowerCase()})`).join(", ");
  return element("tr", {}, element("th", { scope: "row" }, name), element("td", { class: "path" }, rest), element("td", { class: "number" }, String(node.parallelism)), element("td", {}, reads));
}
