import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { fuzzRuns } from '#test/support/random/fuzz.ts';
import { isPlainPattern } from './plain-pattern.ts';

describe('isPlainPattern', () => {
  it.each([
    '^[A-Za-z0-9._-]+$',
    '^[0-9a-f]{40}$',
    '^[a-z][a-z0-9-]*$',
    '^[A-Z]+-\\d+$',
    '^v\\d+\\.\\d+\\.\\d+$',
    '^x?$',
    '^$',
  ])('returns true for %s', (pattern) => {
    expect(isPlainPattern(pattern)).toBe(true);
  });

  it.each([
    ['that may begin anywhere', '[a-z]+$'],
    ['that may end anywhere', '^[a-z]+'],
    ['with two ways to share a text', '^[a-z]+[a-z]+$'],
    ['with two ways, of which one is a kind', '^\\w+\\d+$'],
    ['with a repeat before what may be absent', '^[a-z]+-?[a-z]+$'],
    ['with a group', '^(?:a|b)+$'],
    ['with a class of what it is not', '^[^a]+$'],
    ['with any character', '^.+$'],
    ['with a character beyond ASCII', '^é+$'],
    ['whose end is escaped', '^a\\$'],
    ['with a count that has no end', '^a{1,}$'],
    ['that is empty', ''],
  ])('returns false for a pattern %s', (_, pattern) => {
    expect(isPlainPattern(pattern)).toBe(false);
  });

  it('accepts only patterns for which JavaScript finds the same matches as RE2', () => {
    const pieces = ['[a-c]', '[.-/_]', '[a-]', '\\d', '\\w', '\\.', 'a', '-', ':', '[0-9A-F]'];
    const repeats = ['', '', '+', '*', '?', '{2}'];
    const pattern = fc
      .array(fc.tuple(fc.constantFrom(...pieces), fc.constantFrom(...repeats)), { maxLength: 4 })
      .map((parts) => `^${parts.flat().join('')}$`)
      .filter(isPlainPattern);
    const letter = fc.constantFrom(...'aabc019_-./:AF\n é🚀', '\ud83d');
    const text = fc.array(letter, { maxLength: 6 }).map((all) => all.join(''));
    fc.assert(
      fc.property(pattern, text, (source, one) => {
        expect(new RegExp(source, 'u').test(one)).toBe(RE2JS.compile(source).test(one));
      }),
      fuzzRuns(2_000),
    );
  });
});
