/**
 * Finds faults of a JSON text that `JSON.parse` does not report, or reports imprecisely: the place of an unexpected
 * token, repeated keys, and numbers that lose digits when they are parsed.
 */

import { visit } from 'jsonc-parser';
import { toPointer } from '#domain/json.ts';
import { endOfString, skipBlanks } from './json-text.ts';

/** Returns the message of `JSON.parse` without its quotation of the text and without the position. */
export const saidOfSyntax = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(
    / in JSON at position .*$|, ?(?:\.\.\.)?".*$/s,
    '',
  );

const token = /[{}[\]:,]|-?\d[\d.eE+-]*|true|false|null/y;

const canFollow = (before: string, part: string): boolean => {
  if (!/[}\]:,]/.test(part)) return true;
  return before === '[' ? part === ']' : !/^[:,]?$/.test(before);
};

/**
 * Returns the offset of the first unexpected token, for a text that `JSON.parse` refuses with "Unexpected token" or
 * "Unexpected end". The function `visit` of jsonc-parser would also find the token, but it recurses at each level, and
 * a text that `JSON.parse` refuses may nest a million levels.
 */
export const findUnexpected = (text: string): number => {
  let before = '';
  for (let at = skipBlanks(text, 0); at < text.length; ) {
    const start = at;
    if (text[at] === '"') at = endOfString(text, at);
    else {
      token.lastIndex = at;
      if (!token.test(text)) return start;
      at = token.lastIndex;
    }
    const part = text.slice(start, Math.min(at, start + 1));
    if (!canFollow(before, part)) return start;
    before = part;
    at = skipBlanks(text, at);
  }
  return text.length;
};

/** Counts the keys that a text of valid JSON has, including repeated ones. */
const countWrittenKeys = (text: string): number => {
  let count = 0;
  for (let start = text.indexOf('"'); start !== -1; ) {
    const end = endOfString(text, start);
    if (text[end] === ':' || text[skipBlanks(text, end)] === ':') count += 1;
    start = text.indexOf('"', end);
  }
  return count;
};

/** Counts the keys of the objects in a parsed value. */
const countKeys = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item);
    return count;
  }
  for (const name in value) {
    const held = (value as Record<string, unknown>)[name];
    count += typeof held === 'object' ? 1 + countKeys(held) : 1;
  }
  return count;
};

/**
 * Returns true if an object in a text repeats a key, so that the parsed value has fewer keys than the text. The value
 * must not nest deeply; the text may, in values that a repeated key replaced.
 */
export const repeatsKeys = (text: string, value: unknown): boolean =>
  countWrittenKeys(text) !== countKeys(value);

/** Returns pointers to the keys that repeat an earlier key of the same object. The text must not nest deeply. */
export const findDuplicateKeys = (text: string): string[] => {
  const duplicates: string[] = [];
  const objects: Set<string>[] = [];
  visit(text, {
    onObjectBegin() {
      objects.push(new Set());
    },
    onObjectProperty(name, _offset, _length, _line, _column, path) {
      const names = objects.at(-1);
      if (names?.has(name)) duplicates.push(toPointer([...path(), name]));
      names?.add(name);
    },
    onObjectEnd() {
      objects.pop();
    },
  });
  return duplicates;
};

const losesDigits = (source: string): boolean => {
  const value = Number(source);
  return !Number.isFinite(value) || (/^-?\d+$/.test(source) && !Number.isSafeInteger(value));
};

type UnsafeNumber = { pointer: string; source: string };

/** Cheap test whether a text may have a number that loses digits: sixteen digits, or a large exponent. */
const mayLose = /\d[\d.]{15}|[eE][-+]?\d{3}/;

/**
 * Finds the first number whose exact value is lost in parsing. The text must not nest deeply. Whole numbers are exact
 * up to 2^53. A caller that also requires exact fractions passes its own function `loses`.
 */
export const findUnsafeNumber = (
  text: string,
  loses: (source: string) => boolean = losesDigits,
): UnsafeNumber | undefined => {
  if (!mayLose.test(text)) return undefined;
  let unsafe: UnsafeNumber | undefined;
  visit(text, {
    onLiteralValue(value, offset, length, _line, _column, path) {
      if (unsafe !== undefined || typeof value !== 'number') return;
      const source = text.slice(offset, offset + length);
      if (loses(source)) unsafe = { pointer: toPointer(path()), source };
    },
  });
  return unsafe;
};
