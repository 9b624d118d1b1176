/**
 * Which numbers are kept as they came. A number beyond all doubles is read as infinite, which no JSON
 * can say; a whole number beyond 2^53 that JSON writes in digits loses some of them when it is read, and
 * the store's engine takes it for a kind of its own. Both would be altered without a word.
 */
import { escapeSegment } from '../read/pointer.ts';
import type { CheckValue } from './shapes.ts';

/** From here on JSON writes a number with its exponent, which promises no digits. */
const firstWithExponent = 1e21;

const isKept = (number: number): boolean => {
  if (Number.isSafeInteger(number)) return true;
  if (!Number.isInteger(number)) return Number.isFinite(number);
  return Math.abs(number) >= firstWithExponent;
};

const findAltered = (value: unknown): string | undefined => {
  if (typeof value === 'number') return isKept(value) ? undefined : '';
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const inner = findAltered(member);
    if (inner !== undefined) return `/${escapeSegment(name)}${inner}`;
  }
  return undefined;
};

const detail = 'is a number with more digits than are kept exactly; write it as a text';

/** The check that wants numbers to be kept, too, once a value is what `check` wants it to be. */
export const andKept =
  (check: CheckValue): CheckValue =>
  (value) => {
    const problems = check(value);
    if (problems.length > 0) return problems;
    const pointer = findAltered(value);
    return pointer === undefined ? [] : [{ pointer, detail }];
  };
