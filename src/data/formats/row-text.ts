/** One row from its JSON text, with what `JSON.parse` does not tell: repeated keys, numbers that lose digits, depth. */
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
import { escapesSurrogates, hasBrokenText } from '#language/schema/kept-values.ts';

type Read = { row: Row } | { field: string | null; detail: string };

const fieldAt = (pointer: string): string | null => parsePointer(pointer)[0] ?? null;

const quotedChars = 40;

/** Why a text is no JSON, as far as one can tell by where it stops being it. */
const whyNoJson = (text: string): string => {
  const at = findUnexpected(text);
  if (at >= text.length) return 'is no whole JSON: it ends too early';
  const found = text.slice(at, at + quotedChars).split('\n')[0] ?? '';
  return `is no JSON: ${JSON.stringify(found)} at character ${at + 1} cannot stand there`;
};

const mayNestDeeply = /^(?:[^[{]*[[{]){65}/;

const faultOf = (text: string, row: Row): { field: string | null; detail: string } | undefined => {
  if (repeatsKeys(text, row)) {
    const pointer = findDuplicateKeys(text)[0] ?? '';
    return { field: fieldAt(pointer), detail: `the key ${pointer} is written twice` };
  }
  const number = findUnsafeNumber(text);
  if (number !== undefined) {
    const detail = `${number.source} has more digits than are kept exactly; write it as a text`;
    return { field: fieldAt(number.pointer), detail };
  }
  if (escapesSurrogates(text) && hasBrokenText(row)) {
    return { field: null, detail: 'holds half of a surrogate pair, which is no character' };
  }
  return undefined;
};

/** Reads a row, or says what is wrong with its text. */
export const readRowText = (text: string): Read => {
  if (mayNestDeeply.test(text) && depthOf(text) > languageLimits.depth) {
    return { field: null, detail: `nests deeper than ${languageLimits.depth} levels` };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { field: null, detail: whyNoJson(text) };
  }
  if (!isObject(value)) return { field: null, detail: 'is no JSON object' };
  const fault = faultOf(text, value);
  return fault ?? { row: value };
};
