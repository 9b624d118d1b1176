import { describe, expect, it } from 'vitest';
import { exactNumber, losesDigits } from './exact-number.ts';

describe('exactNumber', () => {
  it.each([
    ['0', 0],
    ['-0.05', -0.05],
    ['12.50', 12.5],
    ['007.10', 7.1],
    ['0.0000001', 1e-7],
    ['9007199254740991', 9_007_199_254_740_991],
    ['12345678901234.56', 12_345_678_901_234.56],
  ])('returns the number for %s, which a JSON number represents exactly', (text, number) => {
    expect(exactNumber(text)).toBe(number);
  });

  it.each(['99999999999999999.99', '9007199254740993', '0.10000000000000001', '1e400'])(
    'returns undefined for %s, which no JSON number represents exactly',
    (text) => {
      expect(exactNumber(text)).toBeUndefined();
    },
  );
});

describe('losesDigits', () => {
  it.each([
    '0.1',
    '-0',
    '52.520006600000002',
    '1e21',
    '1.5E-10',
    '0.30000000000000004',
    '1.000',
    '0.1000000000000000055511151231257827021181583404541015625',
  ])('is false for %s, which a program may have written for a double', (text) => {
    expect(losesDigits(text)).toBe(false);
  });

  it.each(['1234567890123.4567', '0.12345678901234567890', '12345678901234567890', '1e400'])(
    'is true for %s',
    (text) => {
      expect(losesDigits(text)).toBe(true);
    },
  );
});
