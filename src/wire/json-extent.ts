/**
 * Measures what a JSON text costs its reader, in levels and values, and finds members that could set a prototype.
 * Readers of bodies reject by these figures; writers check them before they send.
 */

/** Nesting depth of a JSON text, and an approximate number of its values. */
export type Extent = { levels: number; values: number };

/** Returns the index of the quote that closes the string opened at `start`; the length of the text if there is none. */
const endOfString = (text: string, start: number): number => {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
  } while (isEscaped(text, end));
  return end;
};

const isEscaped = (text: string, index: number): boolean => {
  let slashes = 0;
  while (text.charCodeAt(index - 1 - slashes) === 0x5c) slashes += 1;
  return slashes % 2 === 1;
};

/** Measures a text that need not be valid JSON. Characters within strings do not count. */
export const measureJson = (text: string): Extent => {
  let depth = 0;
  let levels = 0;
  let values = 1;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === 0x22) {
      i = endOfString(text, i);
    } else if (code === 0x2c) {
      values += 1;
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      values += 1;
      if (depth > levels) levels = depth;
    } else if (code === 0x5d || code === 0x7d) {
      depth -= 1;
    }
  }
  return { levels, values };
};

/** Counts a character in a text; stops counting just above `most`. */
const countOf = (text: string, character: string, most: number): number => {
  let count = 0;
  let at = text.indexOf(character);
  while (at !== -1 && count <= most) {
    count += 1;
    at = text.indexOf(character, at + 1);
  }
  return count;
};

/**
 * Returns true if a JSON text nests deeper than `limit`. Most texts have fewer brackets than the limit, and counting
 * brackets is much faster than measuring the depth.
 */
export const isTooDeep = (text: string, limit: number): boolean =>
  countOf(text, '{', limit) + countOf(text, '[', limit) > limit && measureJson(text).levels > limit;

/**
 * Returns true if a text may hold a member that sets a prototype (`__proto__`, `constructor`). A text with escapes also
 * counts, because escapes may spell such a name.
 */
export const mayInherit = (text: string): boolean => /__proto__|"constructor"|\\u/.test(text);

const inherits = (value: object): boolean =>
  Object.hasOwn(value, '__proto__') ||
  (Object.hasOwn(value, 'constructor') &&
    typeof (value as { constructor: unknown }).constructor === 'object' &&
    (value as { constructor: unknown }).constructor !== null &&
    Object.hasOwn((value as { constructor: object }).constructor, 'prototype'));

/** Returns true if a value has a member that sets a prototype; `text` is its JSON. */
export const holdsInheriting = (text: string, root: unknown): boolean =>
  mayInherit(text) && hasInheriting(root);

/**
 * Returns true if a value has a member that sets a prototype. Unlike `holdsInheriting`, it does not check the text
 * first.
 */
export const hasInheriting = (root: unknown): boolean => {
  const left: unknown[] = [root];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && inherits(value)) return true;
    for (const member of Object.values(value)) {
      if (typeof member === 'object' && member !== null) left.push(member);
    }
  }
  return false;
};
