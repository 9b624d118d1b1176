/**
 * What `JSON.parse` does not tell of a text, or not well: where an unexpected token stands, which keys are written
 * twice, and which numbers lose digits by being read.
 */

import { visit } from 'jsonc-parser';
import { toPointer } from '#domain/json.ts';
import { endOfString, skipBlanks } from './json-text.ts';

/** What `JSON.parse` has against a text, without the part of the text that it quotes and the place. */
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
 * The offset of the first token that cannot stand where it does, for a text that `JSON.parse` refuses
 * with "Unexpected token" or "Unexpected end". `visit` would find it, too, but calls itself at each level, and
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

/** How many keys a text of valid JSON writes. */
const countWrittenKeys = (text: string): number => {
  let count = 0;
  for (let start = text.indexOf('"'); start !== -1; ) {
    const end = endOfString(text, start);
    if (text[end] === ':' || text[skipBlanks(text, end)] === ':') count += 1;
    start = text.indexOf('"', end);
  }
  return count;
};

/** How many keys the objects of a parsed value have. */
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
 * Whether a text writes keys that the value, which it was parsed into, does not have. The value is not
 * nested deeply; the text may be, in what a repeated key replaced.
 */
export const repeatsKeys = (text: string, value: unknown): boolean =>
  countWrittenKeys(text) !== countKeys(value);

/** Pointers of the keys that repeat an earlier one of their object, in a text not nested deeply. */
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

/** Cheap test for a text with a number that `loses` may be true of: sixteen digits, or a large exponent. */
const mayLose = /\d[\d.]{15}|[eE][-+]?\d{3}/;

/**
 * Finds the first number that is not kept exactly, as written, in a text not nested deeply. Whole numbers are exact up
 * to 2^53; a caller that holds fractions to their digits, too, passes its own `loses`.
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
