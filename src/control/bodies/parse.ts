/**
 * Reads JSON: UTF-8, nested no deeper and holding no more values than limits allow, and without the
 * names by which objects inherit. Of a name that is given twice the last value counts, as everywhere in
 * JavaScript; what is stored is written from what was read, so nobody after sees the other.
 */
import { isUtf8 } from 'node:buffer';
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';

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

/** Whether a JSON text opens more levels than `limit`. */
export const isTooDeep = (text: string, limit: number): boolean => measureJson(text).levels > limit;

const invalid = (message: string): AppError => new AppError('invalid', message);

/** The text of a body; undefined when there is none. Throws `invalid` when it is no UTF-8. */
export const textOfBody = (bytes: Uint8Array): string | undefined => {
  if (!isUtf8(bytes)) throw invalid('the body is not UTF-8 text');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text;
  return plain.trim() === '' ? undefined : plain;
};

/** Throws `invalid` for what nests too deep or holds too many values. */
export const checkExtent = ({ levels, values }: Extent): void => {
  if (levels > limits.bodyLevels) {
    throw invalid(`the body is nested deeper than ${limits.bodyLevels} levels`);
  }
  if (values > limits.bodyValues) {
    throw invalid(`the body holds more than ${limits.bodyValues} values`);
  }
};

/** Whether a text may hold a name that objects inherit by; an escape may spell one. */
const mayInherit = (text: string): boolean => /__proto__|"constructor"|\\u/.test(text);

const inherits = (value: object): boolean =>
  Object.hasOwn(value, '__proto__') ||
  (Object.hasOwn(value, 'constructor') &&
    typeof (value as { constructor: unknown }).constructor === 'object' &&
    (value as { constructor: unknown }).constructor !== null &&
    Object.hasOwn((value as { constructor: object }).constructor, 'prototype'));

const holdsInheriting = (root: unknown): boolean => {
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

/** The value of a JSON text whose extent was checked. */
export const parseText = (text: string): unknown => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('invalid', `the body is not JSON: ${(cause as Error).message}`, { cause });
  }
  if (mayInherit(text) && holdsInheriting(value)) {
    throw invalid('the body has a member "__proto__" or "constructor.prototype"');
  }
  return value;
};
