/** What is done to a job: each with the words that say what will happen, and the requests that do it. */

import { path } from "./api.js";

const SOON = 400;

/**
 * @typedef {{name: string, label: string, danger?: boolean, explain: string, fields: (job: object) => import("./dialog.js").Field[],
 *   run: (api: import("./api.js").Api, id: string, filled: object) => Promise<string>}} Action
 */

const DIRECTORY = { name: "directory", label: "Directory", type: "text", hint: "Empty: below the job's state directory." };

/** @type {Action[]} */
export const ACTIONS = [
  {
    name: "savepoint",
    label: "Savepoint",
    explain: "A savepoint is taken after the running epoch. The job goes on.",
    fields: () => [DIRECTORY],
    async run(api, id, { directory }) {
      const begun = await api.send("POST", path`jobs/${id}/savepoints`, { "target-directory": directory || null });
      return `The savepoint is at ${await located(api, id, begun)}`;
    },
  },
  {
    name: "rescale",
    label: "Rescale",
    explain:
      "Between two epochs the job goes on at another parallelism, and its state is spread anew. Operators whose parallelism the program sets keep it.",
    fields: (job) => [
      { name: "parallelism", label: "Parallelism", type: "number", value: String(job.parallelism) },
      { name: "keep", label: "Keep it when the job starts again", type: "checkbox" },
    ],
    async run(api, id, { parallelism, keep }) {
      const begun = await api.send("POST", path`jobs/${id}/rescale`, { parallelism: Number(parallelism), keep });
      const settled = await ended(() => api.get(path`jobs/${id}/requests/${begun["request-id"]}`));
      return `The job is rescaled: ${settled.answer}`;
    },
  },
  {
    name: "stop",
    label: "Stop",
    danger: true,
    explain: "The job ends after its running epoch, with a savepoint from which it can be started again. Nothing is lost.",
    fields: () => [
      DIRECTORY,
      { name: "drain", label: "Let all windows and timers fire first", type: "checkbox", hint: "Only for a job that is not to go on later: its results end there." },
    ],
    async run(api, id, { directory, drain }) {
      const begun = await api.send("POST", path`jobs/${id}/stop`, { targetDirectory: directory || null, drain });
      return `The job has stopped. Its savepoint is at ${await located(api, id, begun)}`;
    },
  },
  {
    name: "cancel",
    label: "Cancel",
    danger: true,
    explain: "The job ends at once, without a savepoint. What its running epoch has computed is thrown away; the epochs before it stay in its state directory.",
    fields: () => [],
    async run(api, id) {
      await api.send("PATCH", path`jobs/${id}`);
      return "The job is being cancelled.";
    },
  },
];

async function located(api, id, begun) {
  const settled = await ended(() => api.get(path`jobs/${id}/savepoints/${begun["request-id"]}`));
  return settled.operation.location;
}

/** Ask until a request has ended. @throws {ApiError} if it failed */
async function ended(look) {
  for (;;) {
    const found = await look();
    if (found.status.id === "COMPLETED") return found;
    await new Promise((resolve) => setTimeout(resolve, SOON));
  }
}
