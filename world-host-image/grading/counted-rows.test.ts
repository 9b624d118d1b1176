/**
 * Tests a closed world with checks that ask for related rows: a new row is explained if the check counts it, and not if
 * the row only matches `where`.
 */
import { describe, expect, it } from 'vitest';
import { openOn, startBench } from '#test/support/host/host-bench.ts';
import type { Grade } from '#wire/public-api/sessions/grade.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';

type Checks = Extract<NonNullable<TaskSpec['grader']>, { kind: 'assertions' }>['checks'];
type Check = Checks[number];

const hasPrivate = { entity: 'repos', where: { private: true } };

/** Adds the rows one after the other, each given as `[entity, row]`, and returns the grade. */
const grade = async (check: Check, ...added: [entity: string, row: object][]) => {
  const { control } = await startBench();
  const grader = { kind: 'assertions' as const, checks: [check], changes: { closed: true } };
  await openOn(control, { task: { grader } });
  for (const [entity, row] of added) {
    const { error } = await control.call('seed', undefined, { rows: { [entity]: [row] } });
    expect(error).toBeUndefined();
  }
  const { output } = await control.call('grade');
  const { verdict, checks, unexplained = [] } = output as Grade;
  return [
    verdict,
    checks.map((judged) => judged.verdict),
    unexplained.map(({ key }) => Object.values(key).join('/')),
  ];
};

const user = (login: string, id: number): [string, object] => ['users', { login, id }];
const repo = (owner: string, isPrivate = true): [string, object] => [
  'repos',
  { owner, name: 'new', private: isPrivate },
];

describe('a new row that meets the conditions of a check', () => {
  const anyNewUsers = {
    entity: 'users',
    where: { id: { gt: 2 } },
    count: { min: 1, max: 2 },
  };
  const newUsers: Check = { ...anyNewUsers, any: hasPrivate };

  it('is explained if it has the required related row', async () => {
    const both = [user('cy', 3), repo('cy'), user('di', 4), repo('di')];
    expect(await grade(newUsers, ...both)).toEqual(['pass', ['pass', 'pass'], []]);
  });

  it('is not explained without a related row, even if the count allows more rows', async () => {
    const graded = await grade(newUsers, user('di', 4), user('cy', 3), repo('cy'));
    expect(graded).toEqual(['fail', ['pass', 'fail'], ['di']]);
  });

  it('is not explained if its related rows do not meet the conditions', async () => {
    const all: Check = { ...anyNewUsers, all: hasPrivate };
    const none: Check = { ...anyNewUsers, none: hasPrivate };
    const rows = [user('di', 4), repo('di', false), user('cy', 3), repo('cy')];
    const amiss = ['di', 'di/new'];
    expect((await grade(all, ...rows))[2]).toEqual(expect.arrayContaining(amiss));
    expect((await grade(none, ...rows))[2]).toEqual(expect.arrayContaining(['cy']));
    expect((await grade(none, ...rows))[2]).not.toContain('di');
  });

  it('is explained as the replacement of a row that counted, but not of another row', async () => {
    // The check wants two users with a private repository. Before, one user has one, and another has none and never
    // gets one.
    const two: Check = {
      entity: 'users',
      where: { id: { gte: 1 } },
      any: hasPrivate,
      count: { min: 2 },
    };
    expect(await grade(two, user('cy', 3), repo('cy'))).toEqual(['pass', ['pass', 'pass'], []]);
    const more = await grade(two, user('cy', 3), repo('cy'), user('di', 4), repo('di'));
    expect(more[0]).toBe('fail');
  });
});
