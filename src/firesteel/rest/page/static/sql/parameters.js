/** Parameters of a statement: `:name` where a value may stand. They are put in as literals, so that they stay values. */

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** How a text becomes a literal, by kind; null if it cannot be one. */
const LITERALS = {
  text: (text) => quoted(text),
  number: (text) => (NUMBER.test(text.trim()) ? text.trim() : null),
  "true or false": (text) => (/^(?:true|false)$/i.test(text.trim()) ? text.trim().toUpperCase() : null),
  date: (text) => `DATE ${quoted(text.trim())}`,
  timestamp: (text) => `TIMESTAMP ${quoted(text.trim())}`,
  NULL: () => "NULL",
};

export const KINDS = Object.keys(LITERALS);

/**
 * @typedef {{name: string, start: number, end: number}} Parameter
 * @param {import("./tokens.js").Statement} statement
 * @returns {Parameter[]} each place where one stands, with its offsets in the statement
 */
export function parameters({ tokens, start }) {
  return tokens.flatMap((colon, place) => {
    const [before, word] = [tokens[place - 1], tokens[place + 1]];
    if (colon.key !== ":" || word?.kind !== "word" || word.start !== colon.end) return [];
    if (before !== undefined && before.end === colon.start && (before.kind !== "symbol" || "):]".includes(before.key))) return [];
    return [{ name: word.text, start: colon.start - start, end: word.end - start }];
  });
}

/**
 * Return the text of a statement with values in it, and a function from offsets of that text to those of the statement.
 * @param {import("./tokens.js").Statement} statement
 * @param {Map<string, {kind: string, text: string}>} values
 * @returns {{text: string, back: (offset: number) => number}}
 * @throws {Error} for a value that is not of its kind
 */
export function filledIn(statement, values) {
  let text = "";
  let from = 0;
  const moved = [];
  for (const { name, start, end } of parameters(statement)) {
    text += statement.text.slice(from, start);
    const begin = text.length;
    text += literal(name, values.get(name));
    moved.push({ begin, end: text.length, start, after: end });
    from = end;
  }
  text += statement.text.slice(from);
  const back = (offset) => {
    const last = moved.findLast((each) => each.begin <= offset);
    if (last === undefined) return offset;
    return offset < last.end ? last.start : offset - last.end + last.after;
  };
  return { text, back };
}

function literal(name, value) {
  const made = LITERALS[value?.kind ?? "text"](value?.text ?? "");
  if (made === null) throw new Error(`The parameter ${name} is no ${value.kind}: ${value.text || "it is empty"}.`);
  return made;
}

function quoted(text) {
  return `'${text.replaceAll("'", "''")}'`;
}
