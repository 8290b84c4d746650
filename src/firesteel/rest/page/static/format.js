/** Numbers, sizes and times as people read them. What is not known is a dash. */

export const UNKNOWN = "–";

/** 1234567 is 1.23 M; at most three digits that count. */
export function number(value) {
  if (value === null || value === undefined) return UNKNOWN;
  return scaled(value, 1000, ["", " k", " M", " G", " T"]);
}

/** Bytes, in powers of 1024. */
export function bytes(value) {
  if (value === null || value === undefined || value < 0) return UNKNOWN;
  return scaled(value, 1024, [" B", " KiB", " MiB", " GiB", " TiB"]);
}

/** A number per second. */
export function rate(value) {
  return value === null || value === undefined ? UNKNOWN : `${number(value)}/s`;
}

/** Bytes per second. */
export function byteRate(value) {
  return value === null || value === undefined ? UNKNOWN : `${bytes(value)}/s`;
}

/** Milliseconds that may be a part of one: 0.6 µs, 3.2 ms, 850 ms, and from a second on as `duration`. */
export function fine(milliseconds) {
  if (milliseconds === null || milliseconds === undefined || milliseconds < 0) return UNKNOWN;
  if (milliseconds >= 10_000) return duration(milliseconds);
  if (milliseconds >= 1000) return `${digits(milliseconds / 1000)} s`;
  if (milliseconds === 0 || milliseconds >= 0.1) return `${digits(milliseconds)} ms`;
  return `${digits(milliseconds * 1000)} µs`;
}

/** A number of things: 1 key, 2 keys. */
export function counted(value, thing) {
  return value === 1 ? `1 ${thing}` : `${value} ${thing}s`;
}

/** A share from 0 to 1, in percent. */
export function share(value) {
  return value === null || value === undefined ? UNKNOWN : `${Math.round(value * 100)} %`;
}

/** Milliseconds: 850 ms, 12 s, 3 min 5 s, 2 h 4 min, 3 d 2 h. */
export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined || milliseconds < 0) return UNKNOWN;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [
    [Math.floor(seconds / 86400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([amount]) => amount > 0);
  const shown = parts.slice(first, first + 2).filter(([amount]) => amount > 0);
  return shown.map(([amount, unit]) => `${amount} ${unit}`).join(" ");
}

/** A moment in milliseconds since 1970, in the reader's time zone. */
export function moment(milliseconds) {
  if (milliseconds === null || milliseconds === undefined || milliseconds <= 0) return UNKNOWN;
  return new Date(milliseconds).toLocaleString();
}

/** The time of day of a moment. */
export function clock(milliseconds) {
  return new Date(milliseconds).toLocaleTimeString();
}

/** A watermark in milliseconds: its time, of another day with the date, or what its two ends mean. */
export function watermark(value) {
  if (value === null || value === undefined) return UNKNOWN;
  if (value <= -9e15) return "none yet";
  if (value >= 9e15) return "the end";
  const time = new Date(value);
  return time.toDateString() === new Date().toDateString() ? time.toLocaleTimeString() : time.toLocaleString();
}

function scaled(value, base, units) {
  let step = 0;
  let left = value;
  while (Math.abs(left) >= base && step < units.length - 1) {
    left /= base;
    step += 1;
  }
  return `${digits(left)}${units[step]}`;
}

/** A number with three digits that count. */
function digits(value) {
  return Number(value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2));
}
