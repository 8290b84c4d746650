/** The numbers of a whole job, which stand above its sections and are drawn as charts. */

import { bytes, duration, fine, rate, share } from "./format.js";

/** The name of each, how it is written, and its field in what the server answers. */
export const TOTALS = [
  ["Read", rate, "read"],
  ["Written", rate, "written"],
  ["Busy", share, "busy"],
  ["Held back", share, "backpressured"],
  ["Lag", duration, "lag"],
  ["Last epoch took", fine, "epoch_ms"],
  ["State", bytes, "state_bytes"],
  ["Memory", bytes, "memory"],
];
