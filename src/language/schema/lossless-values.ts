/**
 * Finds values that would be altered silently. A number beyond all doubles is parsed as infinity, which JSON cannot
 * express. A whole number beyond 2^53 that JSON writes in digits loses some of its digits in parsing, and the store's
 * engine treats it as another type. A text with a lone surrogate has no UTF-8 encoding, and JSON readers refuse it.
 */
import { escapeSegment } from '#domain/json.ts';
import type { CheckValue } from './shapes.ts';

/** Smallest whole number that JSON writes with an exponent. Such a notation does not promise exact digits. */
const firstWithExponent = 1e21;

const isKept = (number: number): boolean => {
  if (Number.isSafeInteger(number)) return true;
  if (!Number.isInteger(number)) return Number.isFinite(number);
  return Math.abs(number) >= firstWithExponent;
};

const brokenText = 'contains half of a surrogate pair, which is no character';
const longNumber = 'is a number with more digits than can be stored exactly; write it as a text';

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
    // A malformed name cannot be part of the pointer.
    if (!isList && !name.isWellFormed()) {
      return { pointer: '', detail: `has a name that ${brokenText}` };
    }
    const inner = findFault((value as Record<string, unknown>)[name], numbers);
    if (inner !== undefined)
      return { ...inner, pointer: `/${escapeSegment(name)}${inner.pointer}` };
  }
  return undefined;
};

/** Returns true if a value contains a text or a name with a lone surrogate. */
export const hasBrokenText = (value: unknown): boolean => findFault(value, false) !== undefined;

/** Returns true if a value is stored unaltered. */
export const isLosslessValue = (value: unknown): boolean => findFault(value, true) === undefined;

const andWithout =
  (numbers: boolean) =>
  (check: CheckValue): CheckValue =>
  (value) => {
    const problems = check(value);
    if (problems.length > 0) return problems;
    const fault = findFault(value, numbers);
    return fault === undefined ? [] : [fault];
  };

/** Wraps a check so that it also rejects values that storing would alter. */
export const andLossless = andWithout(true);

/**
 * Wraps a check so that it also rejects texts that storing would alter; for values whose numbers were checked when they
 * were parsed.
 */
export const andTextsLossless = andWithout(false);

/** Returns true if a JSON text could contain a lone surrogate. UTF-8 cannot encode one, but an escape can. */
export const escapesSurrogates = (json: string): boolean => /\\u[dD][89a-fA-F]/.test(json);
