/** Lines over time. Their paths change, and nothing else is touched. */

import { drawn, element, setAttribute, setText } from "./dom.js";
import { clock } from "./format.js";

const WIDTH = 360;
const HEIGHT = 104;
const TOP = 16;
const FLOOR = HEIGHT - 16;

/** Points of one chart are not more than a screen can show. */
export const MOST_POINTS = 600;

/**
 * @typedef {{at: number, values: (number|null)[]}} Point `at` is in milliseconds, values are those of the lines
 */
export class LineChart {
  /**
   * @param {string} title
   * @param {(value: number|null) => string} format
   * @param {string[]} [lines] their names, if there are several
   * @param {(() => void)|null} [onRemove] makes a button that takes the chart away
   */
  constructor(title, format, lines = [""], onRemove = null) {
    this.format = format;
    this.lines = lines;
    this.title = title;
    this.now = element("strong", {}, "–");
    this.most = drawn("text", { x: 2, y: 10, class: "scale" });
    this.from = drawn("text", { x: 0, y: HEIGHT - 3, class: "scale" });
    this.to = drawn("text", { x: WIDTH, y: HEIGHT - 3, "text-anchor": "end", class: "scale" });
    this.areas = lines.map((_, place) => drawn("path", { class: `area line-${place}` }));
    this.paths = lines.map((_, place) => drawn("path", { class: `line line-${place}` }));
    this.cross = drawn("line", { class: "cross", y1: TOP, y2: FLOOR, visibility: "hidden" });
    this.svg = drawn(
      "svg",
      { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title },
      drawn("line", { class: "axis", x1: 0, x2: WIDTH, y1: FLOOR, y2: FLOOR }),
      ...(lines.length === 1 ? this.areas : []),
      ...this.paths,
      this.cross,
      this.most,
      this.from,
      this.to,
    );
    const remove = onRemove === null ? null : element("button", { type: "button", class: "small", "aria-label": `Remove ${title}`, on: { click: onRemove } }, "×");
    this.node = element("figure", { class: "card" }, element("figcaption", {}, element("span", {}, title), this.now, remove), this.svg);
    this.svg.addEventListener("pointermove", (event) => this.#point(event));
    this.svg.addEventListener("pointerleave", () => this.#leave());
  }

  /** @param {Point[]} points in the order of their times */
  show(points) {
    this.points = points;
    const last = points[points.length - 1];
    this.#say(last);
    if (points.length === 0) return;
    const [from, to] = [points[0].at, Math.max(last.at, points[0].at + 1)];
    const known = points.flatMap((point) => point.values).filter((value) => value !== null && value !== undefined);
    const most = Math.max(...known, 0) || 1;
    this.x = (at) => ((at - from) / (to - from)) * WIDTH;
    const y = (value) => FLOOR - (Math.max(0, value) / most) * (FLOOR - TOP);
    this.paths.forEach((path, place) => setAttribute(path, "d", lineOf(points, place, this.x, y)));
    if (this.lines.length === 1) setAttribute(this.areas[0], "d", areaOf(points, this.x, y));
    setText(this.most, this.format(most));
    setText(this.from, points.length > 1 ? clock(from) : "");
    setText(this.to, clock(to));
    setAttribute(this.svg, "aria-label", `${this.title} since ${clock(from)}: now ${this.#told(last)}, at most ${this.format(most)}`);
  }

  #told(point) {
    return this.lines.map((line, place) => `${line}${line === "" ? "" : " "}${this.format(point?.values[place] ?? null)}`).join(" · ");
  }

  #say(point, prefix = "") {
    setText(this.now, prefix + this.#told(point));
  }

  #point(event) {
    if (!this.points?.length) return;
    const box = this.svg.getBoundingClientRect();
    const wanted = ((event.clientX - box.left) / box.width) * WIDTH;
    const nearest = this.points.reduce((best, point) => (Math.abs(this.x(point.at) - wanted) < Math.abs(this.x(best.at) - wanted) ? point : best));
    setAttribute(this.cross, "x1", this.x(nearest.at));
    setAttribute(this.cross, "x2", this.x(nearest.at));
    setAttribute(this.cross, "visibility", "visible");
    this.#say(nearest, `${clock(nearest.at)}: `);
  }

  #leave() {
    setAttribute(this.cross, "visibility", "hidden");
    if (this.points?.length) this.#say(this.points[this.points.length - 1]);
  }
}

/** Return the path of a line, which has a gap where nothing is known. */
export function lineOf(points, place, x, y) {
  let pen = "M";
  return points
    .map(({ at, values }) => {
      const value = values[place] ?? null;
      const step = value === null ? "" : `${pen}${round(x(at))} ${round(y(value))}`;
      pen = value === null ? "M" : "L";
      return step;
    })
    .join("");
}

function areaOf(points, x, y) {
  const known = points.filter(({ values }) => (values[0] ?? null) !== null);
  if (known.length < 2) return "";
  const [first, last] = [known[0].at, known[known.length - 1].at];
  return `M${round(x(first))} ${FLOOR}${lineOf(known, 0, x, y).replace("M", "L")}L${round(x(last))} ${FLOOR}Z`;
}

function round(value) {
  return Math.round(value * 10) / 10;
}

/** Put earlier points before those that are known. @param {Point[]} points @param {Point[]} earlier */
export function recall(points, earlier) {
  const first = points[0]?.at ?? Infinity;
  points.unshift(...earlier.filter(({ at }) => at < first));
  points.splice(0, points.length - MOST_POINTS);
}

/** Add a point, and forget the oldest ones. @param {Point[]} points */
export function remember(points, point) {
  if (points.length > 0 && points[points.length - 1].at >= point.at) return;
  points.push(point);
  if (points.length > MOST_POINTS) points.shift();
}
