/** A chart of the rows of a result: lines over numbers and times, bars over everything else. */

import { drawn, element, setText, titled } from "../dom.js";
import { number } from "../format.js";

const WIDTH = 860;
const HEIGHT = 300;
const LEFT = 64;
const BOTTOM = 40;
const TOP = 12;
const MOST_BARS = 30;
const LETTERS = 18;

const NUMBERS = new Set(["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"]);
const TIMES = new Set(["DATE", "TIMESTAMP_WITHOUT_TIME_ZONE", "TIMESTAMP_WITH_LOCAL_TIME_ZONE"]);

/** @typedef {{name: string, logicalType: {type: string}}} Column */

/** Return the places of the columns that are best shown: over which, and how high; null if none is a number. */
export function bestColumns(columns) {
  const isNumber = columns.map((column) => NUMBERS.has(column.logicalType.type));
  const y = isNumber.lastIndexOf(true);
  if (y < 0) return null;
  const others = columns.map((_, place) => place).filter((place) => place !== y);
  const x = others.find((place) => TIMES.has(columns[place].logicalType.type)) ?? others.find((place) => !isNumber[place]) ?? others[0] ?? y;
  return { x, y };
}

/** Return steps of an axis that people like to read: 1, 2 or 5 times a power of ten. */
export function ticks(from, to, wanted = 5) {
  const span = to - from || 1;
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((each) => each * power >= rough) ?? 10);
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step + 1e-9) - first + 1 }, (_, place) => (first + place) * step);
}

export class Chart {
  /** @param {Column[]} columns @param {{x: number, y: number}} best as `bestColumns` finds them */
  constructor(columns, best) {
    this.columns = columns;
    const options = columns.map((column, place) => [column.name, place]);
    const numbers = options.filter(([, place]) => NUMBERS.has(columns[place].logicalType.type));
    this.over = select(options, best.x, () => this.show(this.rows));
    this.high = select(numbers, best.y, () => this.show(this.rows));
    this.rows = [];
    this.place = element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Chart" });
    this.note = element("p", { class: "facts" });
    const fields = element("div", { class: "row" }, titled("Height", this.high), titled("Over", this.over));
    this.node = element("div", {}, fields, this.place, this.note);
  }

  /** @param {import("./changelog.js").Row[]} rows */
  show(rows) {
    this.rows = rows;
    const [x, y] = [Number(this.over.value), Number(this.high.value)];
    const type = this.columns[x].logicalType.type;
    const isLine = NUMBERS.has(type) || TIMES.has(type);
    const points = rows
      .map(({ fields }) => ({ label: fields[x] ?? "NULL", at: valueOf(fields[x], type), height: fields[y] === null ? NaN : Number(fields[y]) }))
      .filter((point) => Number.isFinite(point.height) && (!isLine || Number.isFinite(point.at)));
    const shown = isLine ? points.sort((one, other) => one.at - other.at) : points.sort((one, other) => other.height - one.height).slice(0, MOST_BARS);
    const [over, high] = [this.columns[x].name, this.columns[y].name];
    const note = isLine || points.length <= MOST_BARS ? "" : `The ${MOST_BARS} highest of ${points.length}. `;
    setText(this.note, points.length === 0 ? "There is nothing to draw yet." : `${note}The table has the same numbers.`);
    const label = `${high} over ${over}: ${shown.length} ${isLine ? "points" : "bars"}`;
    const times = TIMES.has(type);
    this.place.hidden = shown.length === 0;
    if (shown.length > 0) this.place.replaceChildren(isLine ? line(shown, label, times) : bars(shown, label));
  }
}

function select(options, chosen, changed) {
  const made = options.map(([name, place]) => element("option", { value: place, selected: place === chosen }, name));
  return element("select", { on: { change: changed } }, ...made);
}

function valueOf(text, type) {
  if (text === null) return NaN;
  return TIMES.has(type) ? Date.parse(`${text.replace(" ", "T").replace(/Z$/, "")}${text.length > 10 ? "Z" : ""}`) : Number(text);
}

function frame(label, from, to, parts, width = WIDTH) {
  const y = scale(from, to);
  const grid = ticks(from, to).flatMap((value) => [
    drawn("line", { x1: LEFT, x2: width, y1: y(value), y2: y(value), class: "axis" }),
    drawn("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end", class: "tick" }, number(Number(value.toPrecision(6)))),
  ]);
  return drawn("svg", { class: "plot", width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label }, ...grid, ...parts);
}

/** Return a function from values to heights in the picture. */
function scale(from, to) {
  return (value) => TOP + (1 - (value - from) / (to - from || 1)) * (HEIGHT - TOP - BOTTOM);
}

function bars(points, label) {
  const heights = points.map((point) => point.height);
  const [from, to] = [Math.min(0, ...heights), Math.max(0, ...heights) || 1];
  const y = scale(from, to);
  const step = Math.max(24, Math.min(96, (WIDTH - LEFT) / points.length));
  const parts = points.flatMap((point, place) => {
    const x = LEFT + place * step + step * 0.12;
    const [high, low] = [Math.min(y(point.height), y(0)), Math.max(y(point.height), y(0))];
    const middle = LEFT + (place + 0.5) * step;
    const letters = Math.max(3, Math.min(LETTERS, Math.floor(step / 7)));
    const name = point.label.length > letters ? `${point.label.slice(0, letters - 1)}…` : point.label;
    return [
      drawn("rect", { class: "bar", x, y: high, width: step * 0.76, height: Math.max(1, low - high), rx: 2 }, drawn("title", {}, `${point.label}: ${point.height}`)),
      drawn("text", { x: middle, y: HEIGHT - BOTTOM + 18, "text-anchor": "middle", class: "tick" }, name),
    ];
  });
  return frame(label, from, to, parts, Math.max(WIDTH, LEFT + points.length * step));
}

function line(points, label, times) {
  const heights = points.map((point) => point.height);
  const [low, high] = [Math.min(...heights), Math.max(...heights)];
  const [from, to] = low > 0 && low < high / 2 ? [0, high] : [low, high === low ? low + 1 : high];
  const y = scale(from, to);
  const [first, last] = [points[0].at, points[points.length - 1].at];
  const x = (at) => LEFT + 8 + ((at - first) / (last - first || 1)) * (WIDTH - LEFT - 24);
  const path = points.map((point, place) => `${place === 0 ? "M" : "L"}${x(point.at).toFixed(1)} ${y(point.height).toFixed(1)}`).join("");
  const dots = points.length > 200 ? [] : points.map((point) => drawn("circle", { class: "bar", cx: x(point.at), cy: y(point.height), r: 3 }, drawn("title", {}, `${point.label}: ${point.height}`)));
  const ends = times || first === last ? [points[0], points[points.length - 1]].map(({ at, label: text }) => ({ at, text })) : ticks(first, last, 8).map((at) => ({ at, text: number(Number(at.toPrecision(6))) }));
  const names = ends.map(({ at, text }, place) => drawn("text", { x: x(at), y: HEIGHT - BOTTOM + 18, "text-anchor": times ? (place === 0 ? "start" : "end") : "middle", class: "tick" }, text));
  return frame(label, from, to, [drawn("path", { d: path, class: "curve" }), ...dots, ...names]);
}
