import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzzRuns } from '#test/support/random/fuzz.ts';
import { nearestName, suggestName } from './suggest.ts';

describe('nearestName', () => {
  it.each([
    ['uniqe', 'unique'],
    ['uniuqe', 'unique'],
    ['Unique', 'unique'],
    ['primary-key', 'primary_key'],
    ['schem', 'schema'],
  ])('returns for %s: %s', (name, meant) => {
    expect(nearestName(name, ['schema', 'unique', 'primary_key'])).toBe(meant);
  });

  it.each(['color', 'x', 'kind', 'y'.repeat(1_000)])('returns nothing for %s', (name) => {
    expect(nearestName(name, ['schema', 'id', 'primary_key'])).toBeUndefined();
  });
});

describe('suggestName', () => {
  it('names the nearest name, or else all known names', () => {
    expect(suggestName('ids', ['id', 'name'])).toBe('did you mean "id"?');
    expect(suggestName('color', ['id', 'name'])).toBe('known: id, name');
    expect(suggestName('color', [])).toBeUndefined();
  });

  it('cuts names that are very long', () => {
    const known = Array.from({ length: 30 }, (_, index) => `${index}`.repeat(100_000));
    expect(suggestName('color', known)?.length).toBeLessThan(2_000);
  });
});

/** Returns the distance as it is defined, computed over both words completely. */
const distance = (a: string, b: string): number => {
  const known = new Map<string, number>();
  const from = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j;
    const key = `${i} ${j}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const steps = [
      from(i - 1, j) + 1,
      from(i, j - 1) + 1,
      from(i - 1, j - 1) + Number(a[i - 1] !== b[j - 1]),
    ];
    if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
      steps.push(from(i - 2, j - 2) + 1);
    }
    const least = Math.min(...steps);
    known.set(key, least);
    return least;
  };
  return from(a.length, b.length);
};

describe('the nearest name', () => {
  it('is the one with the smallest edit distance', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 });
    const near = fc.property(word, word, (name, other) => {
      const most = name.length < 5 ? 1 : 2;
      const expected = distance(name, other) <= most ? other : undefined;
      expect(nearestName(name, [other])).toBe(expected);
    });
    fc.assert(near, fuzzRuns(3_000));
  });

  it('is found among a thousand long names in little time', () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `${'t'.repeat(58)}${index}`);
    for (let times = 0; times < 200; times += 1) {
      expect(nearestName('u'.repeat(61), names)).toBeUndefined();
    }
  });
});
