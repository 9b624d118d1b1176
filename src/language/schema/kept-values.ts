/**
 * Which values are kept as they came. A number beyond all doubles is read as infinite, which no JSON
 * can say; a whole number beyond 2^53 that JSON writes in digits loses some of them when it is read, and
 * the store's engine takes it for a kind of its own. A text with half of a surrogate pair is none that
 * UTF-8 can write, and readers of JSON refuse it. All would be altered without a word.
 */
import { escapeSegment } from '#domain/json.ts';
import type { CheckValue } from './shapes.ts';

/** From here on JSON writes a number with its exponent, which promises no digits. */
const firstWithExponent = 1e21;

const isKept = (number: number): boolean => {
  if (Number.isSafeInteger(number)) return true;
  if (!Number.isInteger(number)) return Number.isFinite(number);
  return Math.abs(number) >= firstWithExponent;
};

const brokenText = 'holds half of a surrogate pair, which is no character';
const longNumber = 'is a number with more digits than are kept exactly; write it as a text';

type Fault = { pointer: string; detail: string };

const faultOfScalar = (value: unknown, numbers: boolean): string | undefined => {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : brokenText;
  return numbers && typeof value === 'number' && !isKept(value) ? longNumber : undefined;
};

const findFault = (value: unknown, numbers: boolean): Fault | undefined => {
  if (typeof value !== 'object' || value === null) {
    const detail = faultOfScalar(value, numbers);
    return detail === undefined ? undefined : { pointer: '', detail };
  }
  const isList = Array.isArray(value);
  for (const name in value) {
    // The name itself cannot be told of.
    if (!isList && !name.isWellFormed()) {
      return { pointer: '', detail: `has a name that ${brokenText}` };
    }
    const inner = findFault((value as Record<string, unknown>)[name], numbers);
    if (inner !== undefined)
      return { ...inner, pointer: `/${escapeSegment(name)}${inner.pointer}` };
  }
  return undefined;
};

/** Whether a value holds a text, or a name, with half of a surrogate pair. */
export const hasBrokenText = (value: unknown): boolean => findFault(value, false) !== undefined;

/** Returns true for a value that is kept as it came. */
export const isKeptValue = (value: unknown): boolean => findFault(value, true) === undefined;

const andWithout =
  (numbers: boolean) =>
  (check: CheckValue): CheckValue =>
  (value) => {
    const problems = check(value);
    if (problems.length > 0) return problems;
    const fault = findFault(value, numbers);
    return fault === undefined ? [] : [fault];
  };

/** The check that wants values to be kept, too, once a value is what `check` wants it to be. */
export const andKept = andWithout(true);

/** The same of texts alone, for values whose numbers were looked at while they were read. */
export const andTextsKept = andWithout(false);

/** Whether a text of JSON could hold a text with half of a surrogate pair: UTF-8 alone cannot, an escape can. */
export const escapesSurrogates = (json: string): boolean => /\\u[dD][89a-fA-F]/.test(json);
