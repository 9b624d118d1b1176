/** Holds what a step found against what it should have found; a mismatch ends the demo. */
import { inspect, isDeepStrictEqual } from 'node:util';
import { AppError } from '#domain/error.ts';

const show = (value: unknown): string =>
  inspect(value, { depth: 4, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 200 });

/** Throws `conflict`, naming both, when the two differ. */
export const expectEqual = (what: string, found: unknown, expected: unknown): void => {
  if (isDeepStrictEqual(found, expected)) return;
  throw new AppError('conflict', `${what}: expected ${show(expected)}, found ${show(found)}`);
};

/** Throws `conflict` when the condition does not hold. */
export const expectThat = (what: string, holds: boolean, found: unknown): void => {
  if (!holds) throw new AppError('conflict', `${what}: not so, found ${show(found)}`);
};

/** The value. Throws `conflict` when there is none. */
export const expectSome = <Value>(what: string, found: Value | null | undefined): Value => {
  if (found === null || found === undefined) {
    throw new AppError('conflict', `${what}: expected one, found none`);
  }
  return found;
};
