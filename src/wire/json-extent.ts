/**
 * How large a JSON text is in what costs its reader: levels and values; and whether it holds names by which
 * objects inherit. Who reads bodies refuses by it, and who writes them looks first.
 */

/** How deep a JSON text nests and, to within a few, how many values it holds. */
export type Extent = { levels: number; values: number };

/** Index of the quote that closes the string opened at `start`; the text's end when none does. */
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

/** Measures a text that may or may not be JSON. What stands in strings does not count. */
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

/** How often a character stands in a text, counted no further than past `most`. */
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
 * Whether a JSON text opens more levels than `limit`. Most texts have fewer brackets than that, which is seen much
 * sooner than how they nest.
 */
export const isTooDeep = (text: string, limit: number): boolean =>
  countOf(text, '{', limit) + countOf(text, '[', limit) > limit && measureJson(text).levels > limit;

/** Whether a text may hold a name that objects inherit by; an escape may spell one. */
export const mayInherit = (text: string): boolean => /__proto__|"constructor"|\\u/.test(text);

const inherits = (value: object): boolean =>
  Object.hasOwn(value, '__proto__') ||
  (Object.hasOwn(value, 'constructor') &&
    typeof (value as { constructor: unknown }).constructor === 'object' &&
    (value as { constructor: unknown }).constructor !== null &&
    Object.hasOwn((value as { constructor: object }).constructor, 'prototype'));

/** Whether a value has a member by which objects inherit; `text` is its JSON. */
export const holdsInheriting = (text: string, root: unknown): boolean =>
  mayInherit(text) && hasInheriting(root);

/** The same of a value alone. */
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
