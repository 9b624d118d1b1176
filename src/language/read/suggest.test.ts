import { describe, expect, it } from 'vitest';
import { nearestName, suggestName } from './suggest.ts';

describe('nearestName', () => {
  it.each([
    ['uniqe', 'unique'],
    ['uniuqe', 'unique'],
    ['Unique', 'unique'],
    ['primary-key', 'primary_key'],
    ['schem', 'schema'],
  ])('%s is taken for %s', (name, meant) => {
    expect(nearestName(name, ['schema', 'unique', 'primary_key'])).toBe(meant);
  });

  it.each(['color', 'x', 'kind', 'y'.repeat(1_000)])('%s is taken for none', (name) => {
    expect(nearestName(name, ['schema', 'id', 'primary_key'])).toBeUndefined();
  });
});

describe('suggestName', () => {
  it('names the nearest, or else what is known', () => {
    expect(suggestName('ids', ['id', 'name'])).toBe('did you mean "id"?');
    expect(suggestName('color', ['id', 'name'])).toBe('known: id, name');
    expect(suggestName('color', [])).toBeUndefined();
  });

  it('cuts names that a stranger made endless', () => {
    const known = Array.from({ length: 30 }, (_, index) => `${index}`.repeat(100_000));
    expect(suggestName('color', known)?.length).toBeLessThan(2_000);
  });
});
