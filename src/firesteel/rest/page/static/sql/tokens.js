/** The words of SQL in a text, by the lexical rules of the server (`firesteel.sql.lexer`), and its statements. */

const PATTERN =
  /(?<comment>(?:--|\/\/)[^\n\r]*|\/\*(?!\+)(?:[^*]|\*(?!\/))*(?:\*\/|$))|(?<string>(?:[xXnNeE]|[uU]&)?'(?:[^']|'')*(?:'|$))|(?<quoted>`(?:[^`]|``)*(?:`|$))|(?<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|(?<word>[\p{L}_][\p{L}\p{N}_$]*|\$[\p{L}\p{N}_$]+)|(?<symbol>=>|<>|!=|<=|>=|\|\||->|\S)/gu;

/**
 * @typedef {{kind: "comment"|"string"|"quoted"|"number"|"word"|"symbol", text: string, key: string, start: number, end: number}} Token
 *   `key` is a word in capitals, or a symbol; empty for others. Offsets are those of JavaScript's strings.
 * @typedef {{text: string, start: number, end: number, tokens: Token[]}} Statement without its semicolon
 */

/** @param {string} text @returns {Token[]} */
export function tokens(text) {
  return [...text.matchAll(PATTERN)].map((match) => {
    const kind = Object.keys(match.groups).find((name) => match.groups[name] !== undefined);
    const key = kind === "word" ? match[0].toUpperCase() : kind === "symbol" ? match[0] : "";
    return { kind, text: match[0], key, start: match.index, end: match.index + match[0].length };
  });
}

/** Split a text at its semicolons; those within a statement set do not count. @returns {Statement[]} */
export function statements(text) {
  const found = [];
  let open = [];
  const close = () => {
    if (open.length > 0) {
      const [start, end] = [open[0].start, open[open.length - 1].end];
      found.push({ text: text.slice(start, end), start, end, tokens: open });
    }
    open = [];
  };
  for (const token of tokens(text)) {
    if (token.kind === "comment") continue;
    if (token.key === ";" && !withinSet(open.map((each) => each.key))) close();
    else open.push(token);
  }
  close();
  return found;
}

function withinSet(keys) {
  const begins = keys.slice(0, 15).join(" ");
  if (!begins.startsWith("BEGIN STATEMENT SET") && !begins.includes("STATEMENT SET BEGIN")) return false;
  return !(keys.length > 3 && keys[keys.length - 1] === "END" && keys[keys.length - 2] === ";");
}

/** Return the statement that the cursor is in or behind; the first one if it is before all, null if there is none. */
export function statementAt(text, cursor) {
  const all = statements(text);
  return all.findLast((each) => each.start <= cursor) ?? all[0] ?? null;
}

/** Return the offset of a line and column, which count from 1; a character beyond 16 bits is one column. */
export function offsetOf(text, line, column) {
  const lines = text.split("\n");
  if (line > lines.length) return text.length;
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  return before + [...lines[line - 1]].slice(0, column - 1).join("").length;
}

/** Return line and column of an offset, the other way round. */
export function placeOf(text, offset) {
  const lines = text.slice(0, offset).split("\n");
  return { line: lines.length, column: [...lines[lines.length - 1]].length + 1 };
}
