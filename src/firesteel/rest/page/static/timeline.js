/** Epochs over time: the phases that each went through, what it stored, and how its time fits what admission expects. */

import { drawn } from "./dom.js";
import { bytes, clock, fine, number } from "./format.js";

/** The phases of an epoch in their order, with what is said of each. */
export const PHASES = [
  ["plan", "planned"],
  ["run", "run"],
  ["wait", "waited"],
  ["commit", "committed"],
  ["publish", "published"],
];

const WIDTH = 960;
const LEFT = 76;
const LANE = 24;
const GAP = 8;
const STORED = 44;
const HEIGHT = 2 * (LANE + GAP) + STORED + 26;
const NARROWEST = 1.5;

/**
 * @typedef {{epoch: number, published_at: number, plan: number, run: number, wait: number, commit: number, publish: number,
 *   records: number, largest: number, stored: number, limit: number, floor: number, cost: number, certain: boolean, next_limit: number}} Epoch
 */

/** Return how long an epoch took until its output was visible (milliseconds). @param {Epoch} epoch */
export function durationOf(epoch) {
  return PHASES.reduce((sum, [phase]) => sum + epoch[phase], 0);
}

/** Return the phases of an epoch in words. @param {Epoch} epoch */
export function phasesOf(epoch) {
  return PHASES.filter(([phase]) => phase !== "wait" || epoch.wait > 0)
    .map(([phase, word]) => `${word} ${fine(epoch[phase])}`)
    .join(", ");
}

/**
 * Draw epochs on a line of time: publishing has a lane of its own, since it may go on beside the next epoch.
 * @param {Epoch[]} epochs oldest first, at least one
 * @param {{at: number, kind: string}[]} failures
 * @returns {SVGElement}
 */
export function timeline(epochs, failures) {
  const from = Math.min(...epochs.map((epoch) => epoch.published_at - durationOf(epoch)));
  const to = Math.max(...epochs.map((epoch) => epoch.published_at), from + 1);
  const x = (time) => LEFT + ((time - from) / (to - from)) * (WIDTH - LEFT);
  const most = Math.max(1, ...epochs.map((epoch) => epoch.stored));
  const floor = 2 * (LANE + GAP) + STORED;
  const seen = failures.filter((failure) => failure.at >= from);
  return drawn(
    "svg",
    { class: "timeline", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": "The phases of the last epochs over time, and what each stored. The table has their numbers." },
    drawn("text", { x: 0, y: LANE - 7 }, "runs"),
    drawn("text", { x: 0, y: 2 * LANE + GAP - 7 }, "publishes"),
    drawn("text", { x: 0, y: floor - 2 }, "stores"),
    ...epochs.map((epoch) => column(epoch, x, most, floor)),
    ...seen.map((failure) => mark(failure, x(Math.min(failure.at, to)), floor)),
    drawn("line", { x1: LEFT, x2: WIDTH, y1: floor, y2: floor, class: "axis" }),
    drawn("text", { x: LEFT, y: HEIGHT - 4 }, clock(from)),
    drawn("text", { x: WIDTH, y: HEIGHT - 4, "text-anchor": "end" }, clock(to)),
  );
}

function column(epoch, x, most, floor) {
  let at = epoch.published_at - durationOf(epoch);
  const parts = PHASES.map(([phase]) => {
    const start = x(at);
    at += epoch[phase];
    if (epoch[phase] <= 0) return null;
    const y = phase === "publish" ? LANE + GAP : 0;
    return drawn("rect", { class: `phase ${phase}`, x: start, y, width: Math.max(NARROWEST, x(at) - start), height: LANE });
  });
  const height = Math.max(1, (epoch.stored / most) * (STORED - 6));
  const start = x(epoch.published_at - epoch.publish);
  const bar = drawn("rect", { class: "bar", x: start - 3, y: floor - height, width: 4, height });
  const text = `Epoch ${epoch.epoch}: ${number(epoch.records)} records in ${fine(durationOf(epoch))} (${phasesOf(epoch)}); stored ${bytes(epoch.stored)}`;
  return drawn("g", { class: "epoch" }, drawn("title", {}, text), ...parts, bar);
}

function mark(failure, x, floor) {
  return drawn("g", {}, drawn("title", {}, `Failed at ${clock(failure.at)}: ${failure.kind}`), drawn("line", { class: "failed", x1: x, x2: x, y1: 0, y2: floor }));
}

const FIT = { width: 420, height: 190, left: 58, right: 12, top: 14, bottom: 30 };

/**
 * Draw the time of epochs over the records of the source that gave most, with the line of floor and cost by which admission sizes the next one.
 * @param {Epoch[]} epochs oldest first, at least one
 * @param {number} target milliseconds that an epoch aims at
 * @returns {SVGElement}
 */
export function fit(epochs, target) {
  const last = epochs[epochs.length - 1];
  const mostRecords = Math.max(1, ...epochs.map((epoch) => epoch.largest)) * 1.05;
  const mostTime = Math.max(target, ...epochs.map(durationOf)) * 1.05;
  const x = (records) => FIT.left + (records / mostRecords) * (FIT.width - FIT.left - FIT.right);
  const y = (time) => FIT.height - FIT.bottom - (Math.min(time, mostTime) / mostTime) * (FIT.height - FIT.top - FIT.bottom);
  const dots = epochs.map((epoch) =>
    drawn("circle", { class: "dot", cx: x(epoch.largest), cy: y(durationOf(epoch)), r: epoch === last ? 5 : 3 }, drawn("title", {}, `Epoch ${epoch.epoch}: ${number(epoch.records)} records in ${fine(durationOf(epoch))}`)),
  );
  const expected = (records) => last.floor + last.cost * records;
  const reach = Math.min(mostRecords, last.cost > 0 ? (mostTime - last.floor) / last.cost : mostRecords);
  return drawn(
    "svg",
    { class: "fit", viewBox: `0 0 ${FIT.width} ${FIT.height}`, role: "img", "aria-label": `The time of epochs over the records of a source: a floor of ${fine(last.floor)} and ${fine(last.cost)} for each record` },
    drawn("line", { class: "axis", x1: FIT.left, x2: FIT.width - FIT.right, y1: y(0), y2: y(0) }),
    drawn("line", { class: "axis", x1: FIT.left, x2: FIT.left, y1: FIT.top, y2: y(0) }),
    drawn("line", { class: "target", x1: FIT.left, x2: FIT.width - FIT.right, y1: y(target), y2: y(target) }, drawn("title", {}, `The target: ${fine(target)}`)),
    drawn("text", { x: FIT.left - 6, y: Math.min(y(target) + 4, y(0) - 14), "text-anchor": "end" }, fine(target)),
    drawn("text", { x: FIT.left - 6, y: y(0), "text-anchor": "end" }, "0"),
    drawn("text", { x: FIT.width - FIT.right, y: FIT.height - 10, "text-anchor": "end" }, `${number(Math.round(mostRecords / 1.05))} records of a source`),
    drawn("line", { class: "expected", x1: x(0), y1: y(last.floor), x2: x(reach), y2: y(expected(reach)) }),
    ...dots,
  );
}
