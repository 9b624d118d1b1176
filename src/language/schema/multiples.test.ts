import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzzRuns } from '#test/support/random/fuzz.ts';
import { isMultipleOf } from './multiples.ts';

describe('isMultipleOf', () => {
  it.each([
    [6, 3],
    [0, 5],
    [-0.9, 0.1],
    [0.3, 0.1],
    [19.99, 0.01],
    [1e308, 0.5],
    [1e21, 1],
    [2 ** 53, 1],
    [1e-7, 1e-8],
    [Number.MIN_VALUE, Number.MIN_VALUE],
    [Number.MAX_VALUE, Number.MIN_VALUE],
  ])('returns true: %d is a multiple of %d', (value, divisor) => {
    expect(isMultipleOf(value, divisor)).toBe(true);
  });

  it.each([
    [7, 3],
    [0.35, 0.1],
    [19.995, 0.01],
    [1e-8, 1e-7],
    [1.00000001, 1],
    [Number.MIN_VALUE, 1],
  ])('returns false: %d is no multiple of %d', (value, divisor) => {
    expect(isMultipleOf(value, divisor)).toBe(false);
  });

  it('gives the same results for hundredths as for whole numbers', () => {
    const cents = fc.integer({ min: -1_000_000, max: 1_000_000 });
    const divisors = fc.integer({ min: 1, max: 5_000 });
    fc.assert(
      fc.property(cents, divisors, (value, divisor) => {
        const isMultiple = isMultipleOf(value / 100, divisor / 100);
        expect(isMultiple).toBe(value % divisor === 0);
      }),
      fuzzRuns(500),
    );
  });
});
