import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { preserveNumber, preserveText, roundNumber } from './redact-modes.ts';

const shapeOf = (text: string): string =>
  text.replace(/[0-9]/g, '0').replace(/[A-Z]/g, 'A').replace(/[a-z]/g, 'a');

describe('preserveText', () => {
  it('returns the same digests as in existing worlds', () => {
    expect(preserveText('board', 'ada.lovelace+x@mail.example')).toBe(
      'xhn.zojoubfk+x@xsbq.gefqcre',
    );
    expect(preserveText('board', 'AB-1234')).toBe('AH-4612');
    expect(preserveText('other', 'AB-1234')).toBe('LS-2723');
  });

  it('keeps length, digits, case and punctuation', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.stringMatching(/^[\w-]+$/),
    );
    fc.assert(
      fc.property(text, (given) => {
        const digest = preserveText('board', given);
        expect(digest).toHaveLength(given.length);
        expect(shapeOf(digest)).toBe(shapeOf(given));
        expect(preserveText('board', given)).toBe(digest);
      }),
      { numRuns: 300 },
    );
  });

  it('leaves characters outside ASCII unchanged, also lone surrogates', () => {
    const text = '１２ Ünïcödé 名前 👩‍🚀 \ud800';
    expect(preserveText('board', text).replace(/[a-z]/g, '')).toBe(text.replace(/[a-z]/g, ''));
    expect(preserveText('board', '')).toBe('');
    expect(preserveText('board', '名前 – 👩‍🚀')).toBe('名前 – 👩‍🚀');
  });

  it('changes every text that is long enough', () => {
    const long = fc.stringMatching(/^[A-Za-z0-9]{12,40}$/);
    fc.assert(
      fc.property(long, long, (one, other) => {
        expect(preserveText('board', one)).not.toBe(one);
        expect(preserveText('board', one)).not.toBe(preserveText('boards', one));
        fc.pre(one !== other);
        expect(preserveText('board', one)).not.toBe(preserveText('board', other));
      }),
      { numRuns: 200 },
    );
  });

  it('uses all characters of its alphabet about equally often', () => {
    const digits = preserveText('board', '0'.repeat(10_000));
    for (const digit of '0123456789') {
      expect(digits.split(digit).length).toBeGreaterThan(850);
      expect(digits.split(digit).length).toBeLessThan(1_150);
    }
  });
});

describe('preserveNumber', () => {
  const number = fc.oneof(
    fc.maxSafeInteger(),
    fc.integer({ min: -100, max: 100 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.tuple(fc.integer(), fc.nat({ max: 9 })).map(([digits, shift]) => digits / 10 ** shift),
    fc.constantFrom(Number.MAX_SAFE_INTEGER, 1e21, 1.5e-7, 0.000_001, 2 ** 53, 1e16),
  );

  it('keeps the sign, the number of digits before and after the point, the exponent, and exactness', () => {
    fc.assert(
      fc.property(number, (given) => {
        const digest = preserveNumber('board', given);
        expect(String(digest).replace(/\d/g, '0')).toBe(String(given).replace(/\d/g, '0'));
        expect(Number.isSafeInteger(digest) || !Number.isSafeInteger(given)).toBe(true);
        expect(preserveNumber('board', given)).toBe(digest);
      }),
      { numRuns: 500 },
    );
  });

  it('returns different numbers for different slugs', () => {
    expect(preserveNumber('board', 1_234_567_890)).not.toBe(preserveNumber('other', 1_234_567_890));
  });

  it('ends even for numbers whose shape few other numbers have', () => {
    for (const given of [Number.MAX_VALUE, Number.MIN_VALUE, 1.5e-323, -Number.MAX_VALUE]) {
      expect(Number.isFinite(preserveNumber('board', given))).toBe(true);
    }
  });
});

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
  ])('rounds %d with %d decimals to %d', (number, decimals, rounded) => {
    expect(roundNumber(number, decimals)).toBe(rounded);
  });

  it.each([7, 1.2, 1e21, 123_456_789_012_345_680_000, Number.MAX_VALUE, Number.MIN_SAFE_INTEGER])(
    'leaves %d, which has no more decimals than are kept',
    (number) => {
      expect(roundNumber(number, 1)).toBe(number);
    },
  );

  it('never returns negative zero', () => {
    expect(roundNumber(-0.04, 1)).toBe(0);
    expect(roundNumber(-0, 1)).toBe(0);
  });

  it('keeps at most the requested decimals, deviates by at most half of the last one, and changes nothing the second time', () => {
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
