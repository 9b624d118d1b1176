/**
 * Walks over the text of a JSON document without building its values: finds where members begin and values end. The
 * text must be valid JSON. The functions do not recurse by themselves, so nesting depth costs nothing.
 *
 * The scanner of jsonc-parser is not used, because it reads every token. That takes twenty times as long as skipping
 * unneeded parts, and files of rows have many megabytes.
 */

/** A part of a text: the offsets of its start and its end in UTF-16 code units; the end is excluded. */
export type Span = { start: number; end: number };

/** A member of an object with its key, or an item of a list. */
type Member = {
  name: string | number;
  key?: Span;
  /** Offset at which the value begins. */
  start: number;
};

const blanks: ReadonlySet<string | undefined> = new Set([' ', '\t', '\n', '\r']);

export const skipBlanks = (text: string, from: number): number => {
  let at = from;
  while (blanks.has(text[at])) at += 1;
  return at;
};

/**
 * Returns the offset after the string whose opening quote is at `start`; the end of the text if no quote closes the
 * string.
 */
export const endOfString = (text: string, start: number): number => {
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return text.length;
    let escapes = quote;
    while (text[escapes - 1] === '\\') escapes -= 1;
    if ((quote - escapes) % 2 === 0) return quote + 1;
    from = quote + 1;
  }
};

const bracketOrQuote = /["[\]{}]/g;
const scalar = /[^\s,\]}]*/y;

const endOfContainer = (text: string, start: number): number => {
  let depth = 0;
  bracketOrQuote.lastIndex = start;
  for (let found = bracketOrQuote.exec(text); found !== null; found = bracketOrQuote.exec(text)) {
    if (found[0] === '"') bracketOrQuote.lastIndex = endOfString(text, found.index);
    else depth += found[0] === '{' || found[0] === '[' ? 1 : -1;
    if (depth === 0) return bracketOrQuote.lastIndex;
  }
  return text.length;
};

/** Returns the offset after the value that begins at `start`. */
export const endOfValue = (text: string, start: number): number => {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first === '{' || first === '[') return endOfContainer(text, start);
  scalar.lastIndex = start;
  scalar.test(text);
  return scalar.lastIndex;
};

/** Returns the nesting depth of lists and objects in a text. Values that a repeated key replaces are included. */
export const depthOf = (text: string): number => {
  let depth = 0;
  let most = 0;
  bracketOrQuote.lastIndex = 0;
  for (let found = bracketOrQuote.exec(text); found !== null; found = bracketOrQuote.exec(text)) {
    if (found[0] === '"') bracketOrQuote.lastIndex = endOfString(text, found.index);
    else depth += found[0] === '{' || found[0] === '[' ? 1 : -1;
    most = Math.max(most, depth);
  }
  return most;
};

const readMember = (text: string, at: number, index: number | undefined): Member => {
  if (index !== undefined) return { name: index, start: at };
  const end = endOfString(text, at);
  const colon = skipBlanks(text, end);
  const name = JSON.parse(text.slice(at, end)) as string;
  return { name, key: { start: at, end }, start: skipBlanks(text, colon + 1) };
};

/**
 * Visits the direct members of the value at `start`; a scalar has none. The visitor returns the offset after the
 * member's value; the function returns the offset after the whole value.
 */
export const eachMember = (
  text: string,
  start: number,
  visit: (member: Member) => number,
): number => {
  const isList = text[start] === '[';
  if (!isList && text[start] !== '{') return endOfValue(text, start);
  let at = skipBlanks(text, start + 1);
  for (let index = 0; text[at] !== ']' && text[at] !== '}'; index += 1) {
    if (at >= text.length) return at;
    at = skipBlanks(text, visit(readMember(text, at, isList ? index : undefined)));
    if (text[at] === ',') at = skipBlanks(text, at + 1);
  }
  return at + 1;
};
