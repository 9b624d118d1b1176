import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { roundNumber } from './round.ts';

const decimalsOf = (number: number): number => {
  const [mantissa = '', exponent = '0'] = String(number).split('e');
  return Math.max((mantissa.split('.')[1] ?? '').length - Number(exponent), 0);
};

describe('roundNumber', () => {
  it.each([
    [1.005, 2, 1.01],
    [2.5, 0, 3],
    [-2.5, 0, -3],
    [0.5, 0, 1],
    [1.45, 1, 1.5],
    [8.345, 2, 8.35],
    [9.995, 2, 10],
    [51.500_75, 3, 51.501],
    [-0.127_58, 4, -0.1276],
    [0.1 + 0.2, 10, 0.3],
    [234_567.686_917_696_24, 10, 234_567.686_917_696_2],
    [1e-7, 6, 0],
    [5.1e-7, 6, 0.000_001],
    [5e-324, 10, 0],
    [1.25e-9, 10, 1.3e-9],
    [4_503_599_627_370_495.5, 0, 4_503_599_627_370_496],
  ])('%d to %d decimals is %d', (number, decimals, rounded) => {
    expect(roundNumber(number, decimals)).toBe(rounded);
  });

  it.each([7, 1.2, 1e21, 123_456_789_012_345_680_000, Number.MAX_VALUE, Number.MIN_SAFE_INTEGER])(
    'leaves %d, which has no more decimals than are kept',
    (number) => {
      expect(roundNumber(number, 1)).toBe(number);
    },
  );

  it('knows no negative zero', () => {
    expect(roundNumber(-0.04, 1)).toBe(0);
    expect(roundNumber(-0, 1)).toBe(0);
  });

  it('keeps no more decimals than asked for, comes as near as half of the last, and is done at once', () => {
    const number = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.double({ min: -1e6, max: 1e6, noNaN: true }),
      fc.tuple(fc.integer(), fc.nat({ max: 12 })).map(([digits, shift]) => digits / 10 ** shift),
    );
    fc.assert(
      fc.property(number, fc.nat({ max: 10 }), (given, decimals) => {
        const rounded = roundNumber(given, decimals);
        expect(decimalsOf(rounded)).toBeLessThanOrEqual(decimals);
        expect(roundNumber(rounded, decimals)).toBe(rounded);
        const slack = Math.abs(given) * Number.EPSILON;
        expect(Math.abs(rounded - given)).toBeLessThanOrEqual(
          0.5 * 10 ** -decimals * 1.0001 + slack,
        );
      }),
      { numRuns: 500 },
    );
  });
});
