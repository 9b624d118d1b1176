import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { choiceLists, createChoices } from '#test/support/random/choices.ts';
import { fuzzRuns } from '#test/support/random/fuzz.ts';
import { compilePattern, judgePattern, patternSize } from './patterns.ts';
import { translatePattern } from './translate-pattern.ts';

/** Pieces from which patterns are built; most of them are written differently in RE2's notation. */
const pieces = [
  'a',
  'b?',
  '.',
  '.*',
  '^',
  '$',
  '|',
  '(?:ab)+',
  '\\s',
  '\\S+',
  '[\\s\\d]',
  '[^\\S]',
  '[^]',
  '[]',
  '[[:a]',
  '[\\]^-]',
  '\\w{1,2}',
  '\\b',
  '\\B',
  '[\\b]',
  '\\cA',
  '\\0',
  '\\x41',
  '\\u{1F600}',
  '\\uD83D\\uDE00',
  '[😀-😂]',
  '\\p{L}',
  '\\P{Lu}',
  '[\\p{N}_]',
  '\\/',
  '\\.',
  '\\v',
];
const letters = ['a', 'b', 'A', '1', '_', ' ', '\n', '\r', '\v', '\b', '\0', '\x01', '.', '/', '['];
const others = [':', ']', '^', '-', 'é', '\u00a0', '\u2028', '\ufeff', '😀', '😁', '\ud83d'];

describe('compilePattern', () => {
  it('finds the same matches as ECMAScript', () => {
    fc.assert(
      fc.property(choiceLists(8), choiceLists(8), (forPattern, forText) => {
        const source = forPattern.map((number) => createChoices([number]).of(pieces)).join('');
        const text = forText
          .map((number) => createChoices([number]).of([...letters, ...others]))
          .join('');
        expect(compilePattern(source).test(text)).toBe(new RegExp(source, 'u').test(text));
      }),
      fuzzRuns(2_000),
    );
  });

  it('supports named groups', () => {
    expect(compilePattern('^(?<first>a)(?<second>b)$').test('ab')).toBe(true);
  });

  it('allows unnecessary escapes of punctuation', () => {
    expect(compilePattern('^\\d{2}\\-\\d\\@\\_$').test('12-3@_')).toBe(true);
    expect(compilePattern('^[a\\-z]$').test('b')).toBe(false);
  });

  it.each(['(a+)+$', '(a|a)*b$', '^(\\w+\\s?)*$', '(.*a){20}$', '(a?){100}a{100}$'])(
    'takes linear time for %s',
    (source) => {
      const pattern = compilePattern(source);
      expect(pattern.test(`${'a'.repeat(50_000)}!`)).toBe(false);
    },
  );
});

describe('judgePattern', () => {
  it.each([
    ['(?=a)', 'look-around'],
    ['a(?!b)', 'look-around'],
    ['(?<=a)b', 'look-around'],
    ['(?<!a)b', 'look-around'],
    ['(a)\\1', 'back-reference'],
    ['(?<n>a)\\k<n>', 'back-reference'],
    ['(?i)a', 'write a flag with the part to which it applies, (?i:…)'],
    ['\\Aa', 'not a valid ECMAScript pattern'],
    ['\\Qa.b\\E', 'not a valid ECMAScript pattern'],
    ['[[:alpha:]]', 'not a valid ECMAScript pattern'],
    ['(?P<n>a)', 'not a valid ECMAScript pattern'],
    ['(', 'not a valid ECMAScript pattern'],
    ['a{1001}', 'invalid repeat count'],
    ['((a{100}){100}){100}', 'with repetitions counted'],
    ['\\p{L}{999}'.repeat(90), 'with repetitions counted'],
    ['(?:[^a]|[^b]){1000}'.repeat(50), 'with repetitions counted'],
    ['\\p{Greek}', 'not a valid ECMAScript pattern'],
    ['a'.repeat(1_001), 'longer than 1000 characters'],
  ])('returns why %s cannot be used', (source, reason) => {
    expect(judgePattern(source).fault).toContain(reason);
  });
});

describe('patternSize', () => {
  const sizeOf = (source: string): number => patternSize(translatePattern(source));

  it.each([
    ['', 0],
    ['abc', 3],
    ['[a-z]\\p{L}\\d', 3],
    ['a{3}', 3],
    ['a{2,5}', 5],
    ['a{4,}', 4],
    ['(ab){3}', 12],
    ['(?:a|b)*', 6],
    ['((a{3}){3}){3}', 3 * (3 * (3 + 2) + 2)],
  ])('returns for %s the size %d', (source, size) => {
    expect(sizeOf(source)).toBe(size);
  });

  it('differs from the size of the compiled pattern by at most a constant factor', () => {
    for (const source of ['^[A-Z]+-\\d{1,300}$', '(?:a?b{2}){200}', '(x|y|z){1,100}', '\\S{500}']) {
      const size = sizeOf(source);
      const made = compilePattern(source).size;
      expect(made).toBeGreaterThan(size / 3);
      expect(made).toBeLessThan(size * 3);
    }
  });
});
