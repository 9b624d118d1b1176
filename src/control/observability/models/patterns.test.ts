import { describe, expect, it } from 'vitest';
import { createKnownMatches, type FindPatterns, type PatternSet } from './patterns.ts';

const setOf = (projectId: string, patterns: string[], id = '1'): PatternSet => ({
  projectId,
  id,
  patterns,
});

/**
 * Creates a cache over a fake search. The fake treats patterns as substrings, and searches only the first `reach`
 * texts.
 */
const start = () => {
  const asked: [project: string, texts: readonly string[]][] = [];
  const limits = { reach: Number.POSITIVE_INFINITY };
  const find: FindPatterns = async (project, patterns, texts) => {
    asked.push([project, texts]);
    return texts
      .slice(0, limits.reach)
      .map((text) => patterns.flatMap((one, index) => (text.includes(one) ? [index] : [])));
  };
  return { matches: createKnownMatches(find), asked, limits };
};

describe('the patterns of a project', () => {
  it('are searched for only once in each text', async () => {
    const { matches, asked } = start();
    const set = setOf('a', ['x', 'y']);
    await matches.learn(set, ['xy', 'y', 'z', 'y']);
    await matches.learn(set, ['y', 'w']);
    expect(asked).toEqual([
      ['a', ['xy', 'y', 'z']],
      ['a', ['w']],
    ]);
    expect(['xy', 'y', 'z'].map((text) => [...(matches.of(set, text) ?? [])])).toEqual([
      ['x', 'y'],
      ['y'],
      [],
    ]);
  });

  it('keep earlier results after a search exceeds its time limit, and have no results for texts that were not searched', async () => {
    const { matches, limits } = start();
    const set = setOf('a', ['x']);
    await matches.learn(set, ['x1']);
    limits.reach = 1;
    await matches.learn(set, ['x2', 'x3']);
    expect(['x1', 'x2', 'x3'].map((text) => matches.of(set, text)?.has('x'))).toEqual([
      true,
      true,
      undefined,
    ]);
  });

  it('are used in no search for a while after one exceeds its time limit, unlike the patterns of other projects', async () => {
    const { matches, asked, limits } = start();
    limits.reach = 0;
    await matches.learn(setOf('a', ['x']), ['x1']);
    await matches.learn(setOf('a', ['x']), ['x1']);
    limits.reach = 1;
    await matches.learn(setOf('b', ['x']), ['x1']);
    expect(asked.map(([project]) => project)).toEqual(['a', 'b']);
    expect(matches.of(setOf('b', ['x']), 'x1')?.has('x')).toBe(true);
    expect(matches.of(setOf('a', ['x']), 'x1')).toBeUndefined();
  });

  it('count as not found in a text that is too long to be a name, without a search', async () => {
    const { matches, asked } = start();
    const set = setOf('a', ['x']);
    await matches.learn(set, ['x'.repeat(201)]);
    expect(asked).toEqual([]);
    expect(matches.of(set, 'x'.repeat(201))?.has('x')).toBe(false);
  });
});
