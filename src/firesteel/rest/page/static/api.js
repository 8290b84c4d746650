/** Requests to the server that the page comes from. */

const TOKEN = "firesteel.token";
const LONGEST = 20_000;

/** An answer that is an error; `reasons` are the server's own words. Status 0: there was no answer. */
export class ApiError extends Error {
  /** @param {number} status @param {string[]} reasons */
  constructor(status, reasons) {
    super(reasons.join("\n"));
    this.status = status;
  }
}

/** Sends the token as a header, which no page of another site can have a browser do. It is kept as long as the tab. */
export class Api {
  /** @param {() => void} onRefused is called when a token is asked for (401) */
  constructor(onRefused) {
    this.onRefused = onRefused;
    /** The name of this page: the server tells pages that it knows to ask less often the more they are. */
    this.page = Math.random().toString(36).slice(2);
  }

  get hasToken() {
    return sessionStorage.getItem(TOKEN) !== null;
  }

  /** @param {string|null} token null forgets it */
  setToken(token) {
    if (token === null) sessionStorage.removeItem(TOKEN);
    else sessionStorage.setItem(TOKEN, token);
  }

  /** @param {string} path below the server's, without a slash before it @param {AbortSignal} [signal] */
  get(path, signal) {
    return this.#ask("GET", path, undefined, signal);
  }

  /** @param {"POST"|"PATCH"|"PUT"|"DELETE"} method @param {string} path @param {unknown} [body] */
  send(method, path, body) {
    return this.#ask(method, path, JSON.stringify(body ?? {}));
  }

  /** Send files. It may take as long as it takes. @param {string} path @param {FormData} form */
  upload(path, form) {
    return this.#answered(path, { method: "POST", body: form, headers: {} });
  }

  #ask(method, path, body, signal) {
    const headers = body === undefined ? {} : { "Content-Type": "application/json" };
    const inTime = AbortSignal.any([AbortSignal.timeout(LONGEST), ...(signal === undefined ? [] : [signal])]);
    return this.#answered(path, { method, headers, body, signal: inTime });
  }

  async #answered(path, options) {
    const { headers } = options;
    headers["Firesteel-Page"] = this.page;
    if (this.hasToken) headers.Authorization = `Bearer ${sessionStorage.getItem(TOKEN)}`;
    const [answer, data] = await this.#fetched(path, { ...options, cache: "no-store" });
    if (answer.ok) return data;
    if (answer.status === 401) this.onRefused();
    throw new ApiError(answer.status, data.errors ?? [answer.statusText]);
  }

  async #fetched(path, options) {
    try {
      const answer = await fetch(new URL(path, document.baseURI), options);
      return [answer, await answer.json()];
    } catch (error) {
      if (error.name === "AbortError") throw error;
      const slow = error.name === "TimeoutError";
      throw new ApiError(0, [slow ? "The server does not answer." : "The server cannot be reached."]);
    }
  }
}

/** Put texts into a path: path`jobs/${id}` */
export function path(parts, ...texts) {
  return parts.reduce((whole, part, place) => whole + encodeURIComponent(texts[place - 1]) + part);
}
