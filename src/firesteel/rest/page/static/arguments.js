/** Arguments as a shell splits them: by spaces, but not within quotes; a backslash keeps what follows it. */

/** @param {string} text @returns {string[]} @throws {Error} for a quote without an end */
export function split(text) {
  const found = [];
  let word = null;
  let quote = "";
  for (let place = 0; place < text.length; place += 1) {
    const letter = text[place];
    if (letter === "\\" && quote !== "'" && place + 1 < text.length) word = (word ?? "") + text[(place += 1)];
    else if (letter === quote) quote = "";
    else if (quote === "" && (letter === "'" || letter === '"')) {
      quote = letter;
      word ??= "";
    } else if (quote === "" && /\s/.test(letter)) {
      if (word !== null) found.push(word);
      word = null;
    } else word = (word ?? "") + letter;
  }
  if (quote !== "") throw new Error(`The arguments have a ${quote} without its end.`);
  return word === null ? found : [...found, word];
}
