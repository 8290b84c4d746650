/** The key groups of a state as bars, with the borders of the subtasks that own them. */

import { drawn } from "./dom.js";
import { number } from "./format.js";

const WIDTH = 960;
const HEIGHT = 110;
const FLOOR = 86;
/** Above this number several groups share a bar. */
const BARS = 256;

/** Return the key groups of each subtask, as Flink assigns them. */
export function subtasksOf(groups, parallelism) {
  return Array.from({ length: parallelism }, (_, subtask) => ({
    subtask,
    first: Math.floor((subtask * groups + parallelism - 1) / parallelism),
    last: Math.floor(((subtask + 1) * groups - 1) / parallelism),
  })).filter(({ first, last }) => last >= first);
}

/**
 * @param {number[]} entries by key group
 * @param {number} parallelism
 * @returns {{chart: SVGElement, subtasks: {subtask: number, first: number, last: number}[]}}
 */
export function groupChart(entries, parallelism) {
  const together = Math.ceil(entries.length / BARS);
  const sums = Array.from({ length: Math.ceil(entries.length / together) }, (_, place) => entries.slice(place * together, (place + 1) * together).reduce((sum, value) => sum + value, 0));
  const most = Math.max(1, ...sums);
  const wide = WIDTH / sums.length;
  const subtasks = subtasksOf(entries.length, parallelism);
  const bars = sums.map((sum, place) => {
    const height = (sum / most) * (FLOOR - 14);
    const groups = together === 1 ? `Key group ${place}` : `Key groups ${place * together} to ${Math.min(entries.length, (place + 1) * together) - 1}`;
    return drawn("rect", { class: "bar", x: place * wide, y: FLOOR - height, width: Math.max(0.5, wide - 1), height }, drawn("title", {}, `${groups}: ${number(sum)} entries`));
  });
  const x = (group) => (group / entries.length) * WIDTH;
  const borders = subtasks.slice(1).map(({ first }) => drawn("line", { class: "border", x1: x(first), x2: x(first), y1: 0, y2: FLOOR + 6 }));
  const names = subtasks.length > 24 ? [] : subtasks.map(({ subtask, first, last }) => drawn("text", { x: x((first + last + 1) / 2), y: HEIGHT - 6, "text-anchor": "middle" }, `subtask ${subtask}`));
  const chart = drawn(
    "svg",
    { class: "groups", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Entries by key group: at most ${number(most)}. The table has them by subtask.` },
    drawn("text", { x: 0, y: 10, class: "scale" }, number(most)),
    ...bars,
    ...borders,
    drawn("line", { class: "axis", x1: 0, x2: WIDTH, y1: FLOOR, y2: FLOOR }),
    ...names,
  );
  return { chart, subtasks };
}
