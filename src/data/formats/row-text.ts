/**
 * Parses JSON text and detects what `JSON.parse` does not report: repeated keys, numbers that lose digits, too deep
 * nesting.
 */
import { isObject, parsePointer } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import { languageLimits } from '#language/limits.ts';
import {
  findDuplicateKeys,
  findUnexpected,
  findUnsafeNumber,
  repeatsKeys,
} from '#language/read/json-faults.ts';
import { depthOf } from '#language/read/json-text.ts';
import { escapesSurrogates, hasBrokenText } from '#language/schema/lossless-values.ts';
import { losesDigits } from './exact-number.ts';

type Fault = { field: string | null; detail: string };
type Read = { row: Row } | Fault;

const fieldAt = (pointer: string): string | null => parsePointer(pointer)[0] ?? null;

const quotedChars = 40;

/** Describes why a text is not JSON, from the place where parsing stops. */
const whyNoJson = (text: string): string => {
  const at = findUnexpected(text);
  if (at >= text.length) return 'is not complete JSON: it ends too early';
  const found = text.slice(at, at + quotedChars).split('\n')[0] ?? '';
  return `is not valid JSON: unexpected ${JSON.stringify(found)} at character ${at + 1}`;
};

const mayNestDeeply = /^(?:[^[{]*[[{]){65}/;

const faultOf = (text: string, value: unknown): Fault | undefined => {
  if (repeatsKeys(text, value)) {
    const pointer = findDuplicateKeys(text)[0] ?? '';
    return { field: fieldAt(pointer), detail: `the key ${pointer} is written twice` };
  }
  const number = findUnsafeNumber(text, losesDigits);
  if (number !== undefined) {
    const detail = `${number.source} has more digits than can be stored exactly; write it as a text`;
    return { field: fieldAt(number.pointer), detail };
  }
  if (escapesSurrogates(text) && hasBrokenText(value)) {
    return { field: null, detail: 'contains half of a surrogate pair, which is no character' };
  }
  return undefined;
};

/** Parses any JSON, or returns the fault of its text. */
export const readValueText = (text: string): { value: unknown } | Fault => {
  if (mayNestDeeply.test(text) && depthOf(text) > languageLimits.depth) {
    return { field: null, detail: `nests deeper than ${languageLimits.depth} levels` };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { field: null, detail: whyNoJson(text) };
  }
  return faultOf(text, value) ?? { value };
};

/** Parses a row, or returns the fault of its text. */
export const readRowText = (text: string): Read => {
  const read = readValueText(text);
  if (!('value' in read)) return read;
  return isObject(read.value)
    ? { row: read.value }
    : { field: null, detail: 'is not a JSON object' };
};
