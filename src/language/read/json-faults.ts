/**
 * What `JSON.parse` does not tell of a text: where an unexpected token stands, which keys are written
 * twice, and which numbers lose digits by being read.
 */

import { escapeSegment } from '#domain/json.ts';
import { eachMember, endOfString, endOfValue, skipBlanks } from './json-text.ts';

const token = /[{}[\]:,]|-?\d[\d.eE+-]*|true|false|null/y;

const canFollow = (before: string, part: string): boolean => {
  if (!/[}\]:,]/.test(part)) return true;
  return before === '[' ? part === ']' : !/^[:,]?$/.test(before);
};

/**
 * The offset of the first token that cannot stand where it does, for a text that `JSON.parse` refuses
 * with "Unexpected token" or "Unexpected end".
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

type Visitor = {
  /** A key that its object had already. */
  duplicate?(pointer: string): void;
  scalar?(pointer: string, source: string): void;
};

/** Visits the values of a text by their pointers. The text is not nested deeply. */
const walk = (text: string, { duplicate, scalar }: Visitor): void => {
  const walkValue = (pointer: string, start: number): number => {
    if (text[start] !== '{' && text[start] !== '[') {
      const end = endOfValue(text, start);
      scalar?.(pointer, text.slice(start, end));
      return end;
    }
    const names = new Set<string | number>();
    return eachMember(text, start, ({ name, start: inner }) => {
      const at = `${pointer}/${escapeSegment(name)}`;
      if (names.has(name)) duplicate?.(at);
      if (duplicate !== undefined) names.add(name);
      return walkValue(at, inner);
    });
  };
  walkValue('', skipBlanks(text, 0));
};

/** How many keys a text of valid JSON writes. */
const countWrittenKeys = (text: string): number => {
  let count = 0;
  for (let start = text.indexOf('"'); start !== -1; ) {
    const end = endOfString(text, start);
    if (text[skipBlanks(text, end)] === ':') count += 1;
    start = text.indexOf('"', end);
  }
  return count;
};

/** How many keys the objects of a parsed value have. */
const countKeys = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  const own = Array.isArray(value) ? 0 : items.length;
  return items.reduce<number>((sum, item) => sum + countKeys(item), own);
};

/**
 * Pointers of the keys that repeat an earlier one of their object, in a text not nested deeply. `value`
 * is what the text was parsed into: as long as it has every key that is written, none is looked for.
 */
export const findDuplicateKeys = (text: string, value: unknown): string[] => {
  if (countWrittenKeys(text) === countKeys(value)) return [];
  const duplicates: string[] = [];
  walk(text, { duplicate: (pointer) => duplicates.push(pointer) });
  return duplicates;
};

const losesDigits = (source: string): boolean => {
  const value = Number(source);
  return !Number.isFinite(value) || (/^-?\d+$/.test(source) && !Number.isSafeInteger(value));
};

type UnsafeNumber = { pointer: string; source: string };

/**
 * The first number that is not kept exactly, as written, in a text not nested deeply. Whole numbers
 * are exact up to 2^53.
 */
export const findUnsafeNumber = (text: string): UnsafeNumber | undefined => {
  if (!/\d{16}|[eE]\+?\d{3}/.test(text)) return undefined;
  const unsafe: UnsafeNumber[] = [];
  walk(text, {
    scalar: (pointer, source) => {
      const isFirst = unsafe.length === 0 && /^[-\d]/.test(source);
      if (isFirst && losesDigits(source)) unsafe.push({ pointer, source });
    },
  });
  return unsafe[0];
};
