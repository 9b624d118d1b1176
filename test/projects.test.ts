/** How test files are shared out: each runs in one project, and those that wait are woven in. */
import { globSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import config from '../vitest.config.ts';
import { takeTurns, weave } from './support/woven-order.ts';

type Files = { include: string[]; exclude?: string[] };

const root = fileURLToPath(new URL('..', import.meta.url));
const shares = ((config.test?.projects ?? []) as { test: Files }[]).map(({ test }) => test);
const matches = (file: string, globs: readonly string[] = []): boolean =>
  globs.some((glob) => matchesGlob(file, glob));

describe('test files', () => {
  it('belong to one project each', () => {
    const all = globSync('{src,orchestrator,world-host-image,test}/**/*.test.ts', { cwd: root });
    // Templates bring tests of their worlds, which hosts run; packages bring their own.
    const files = all.filter(
      (file) => !file.startsWith('src/templates/') && !file.includes('node_modules/'),
    );
    expect(files.length).toBeGreaterThan(300);
    const astray = files.filter(
      (file) =>
        shares.filter((of) => matches(file, of.include) && !matches(file, of.exclude)).length !== 1,
    );
    expect(astray).toEqual([]);
  });

  it('that mostly wait are spread among the others, and all of both run', () => {
    expect(weave(['a', 'b'], [1, 2, 3, 4, 5])).toEqual(['a', 1, 2, 'b', 3, 4, 5]);
    expect(weave(['a', 'b', 'c'], [1])).toEqual(['a', 1, 'b', 'c']);
    expect(weave([], [1, 2])).toEqual([1, 2]);
    expect(weave(['a'], [])).toEqual(['a']);
  });

  it('of several projects take turns, and all of all run', () => {
    const lists = [['a', 'b', 'c', 'd', 'e'], [1, 2], []];
    expect(takeTurns<unknown>(lists, 2)).toEqual(['a', 'b', 1, 'c', 'd', 'e', 2]);
    expect(takeTurns<unknown>(lists, 7).toSorted()).toEqual([1, 2, 'a', 'b', 'c', 'd', 'e']);
  });
});
