/**
 * Checks that each test file has exactly one tier and one project, and that files which mostly wait
 * are spread among the others.
 */
import { globSync } from 'node:fs';
import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import config from '../vitest.config.ts';
import { type FileTime, timeTable } from './support/run/time-reporter.ts';
import { takeTurns, weave } from './support/run/woven-order.ts';
import { fullOnly, leftOutOf, readTier, type Tier, tierNames, tierOf, usualOnly } from './tiers.ts';

type Files = { include: string[]; exclude?: string[] };

const root = fileURLToPath(new URL('..', import.meta.url));
const projects = ((config.test?.projects ?? []) as { test: Files }[]).map(({ test }) => test);
const matches = (file: string, globs: readonly string[] = []): boolean =>
  globs.some((glob) => matchesGlob(file, glob));

/**
 * All test files except those of packages and those of the worlds in templates, which hosts run.
 */
const files = globSync('{src,orchestrator,world-host-image,browser-image,test,sdk}/**/*.test.ts', {
  cwd: root,
}).filter((file) => !file.startsWith('src/templates/') && !file.includes('node_modules/'));

describe('test files', () => {
  it('are found', () => {
    expect(files.length).toBeGreaterThan(300);
  });

  it('have one tier each', () => {
    expect(files.filter((file) => tierOf(file) === undefined)).toEqual([]);
  });

  it('that the tables name exist, each with a reason', () => {
    expect(Object.keys(fullOnly).filter((file) => !files.includes(file))).toEqual([]);
    const idle = Object.keys(usualOnly).filter(
      (glob) => !files.some((file) => matches(file, [glob])),
    );
    expect(idle).toEqual([]);
    const reasons = [...Object.values(fullOnly), ...Object.values(usualOnly)];
    expect(reasons.filter((reason) => reason === '')).toEqual([]);
  });

  it('run in their own tier and in all later ones', () => {
    const runsIn = (tier: Tier, file: string) => !matches(file, leftOutOf(tier));
    const wrong = files.filter((file) => {
      const first = tierNames.indexOf(tierOf(file) as Tier);
      return tierNames.some((tier, at) => runsIn(tier, file) !== at >= first);
    });
    expect(wrong).toEqual([]);
  });

  it('belong to one project each', () => {
    const leftOut = leftOutOf(readTier(process.env.SVC_TEST_TIER));
    const astray = files
      .filter((file) => !matches(file, leftOut))
      .filter(
        (file) =>
          projects.filter((of) => matches(file, of.include) && !matches(file, of.exclude))
            .length !== 1,
      );
    expect(astray).toEqual([]);
  });

  it('that mostly wait are spread among the others, and none is lost', () => {
    expect(weave(['a', 'b'], [1, 2, 3, 4, 5])).toEqual(['a', 1, 2, 'b', 3, 4, 5]);
    expect(weave(['a', 'b', 'c'], [1])).toEqual(['a', 1, 'b', 'c']);
    expect(weave([], [1, 2])).toEqual([1, 2]);
    expect(weave(['a'], [])).toEqual(['a']);
  });

  it('of several projects take turns, and none is lost', () => {
    const lists = [['a', 'b', 'c', 'd', 'e'], [1, 2], []];
    expect(takeTurns<unknown>(lists, 2)).toEqual(['a', 'b', 1, 'c', 'd', 'e', 2]);
    expect(takeTurns<unknown>(lists, 7).toSorted()).toEqual([1, 2, 'a', 'b', 'c', 'd', 'e']);
  });
});

it('the tier is refused if it is unknown, and the error names the known ones', () => {
  expect(() => readTier('slow')).toThrow('SVC_TEST_TIER is "slow"; it is one of fast, usual, full');
  expect(readTier(undefined)).toBe('full');
});

it('the table of times shows the sum of each project, and the 30 slowest files first', () => {
  const time = (index: number): FileTime => ({
    file: `${index}.test.ts`,
    project: index % 2 === 0 ? 'even' : 'odd',
    seconds: index,
    tests: 2,
  });
  const lines = timeTable(Array.from({ length: 40 }, (_, index) => time(index)));
  expect(lines.slice(1, 5)).toEqual([
    '   400.0 s  odd: 20 files, 40 tests',
    '   380.0 s  even: 20 files, 40 tests',
    'The 30 slowest files:',
    '    39.0 s  39.test.ts',
  ]);
  expect(lines).toHaveLength(34);
  expect(lines.at(-1)).toBe('    10.0 s  10.test.ts');
});
