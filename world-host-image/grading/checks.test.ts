/**
 * Tests each kind of check of a grader on a whole host: when the check passes, when it fails, and what a failed check
 * reports.
 */
import { describe, expect, it } from 'vitest';
import { openOn, startBench } from '#test/support/host/host-bench.ts';
import type { Grade } from '#wire/public-api/sessions/grade.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';

type Checks = Extract<NonNullable<TaskSpec['grader']>, { kind: 'assertions' }>['checks'];
type Step = [kind: 'tool' | 'answer' | 'reset', name?: string | undefined, input?: object];

const closeIssue: Step = ['tool', 'update_issues', { id: 10, state: 'closed' }];
const rename: Step = ['tool', 'update_issues', { id: 10, title: 'Crash when it starts' }];

/** Runs the steps on a session of the sample world, grades it, and returns the results of the checks. */
const judge = async (checks: Checks, steps: readonly Step[]): Promise<Grade['checks']> => {
  const { control } = await startBench();
  await openOn(control, { task: { grader: { kind: 'assertions', checks } } });
  for (const [kind, name, input] of steps) {
    const { error } = await control.call(kind, name, input);
    expect(error).toBeUndefined();
  }
  const { output, error } = await control.call('grade');
  expect(error).toBeUndefined();
  return (output as Grade).checks;
};

const verdicts = (checks: Grade['checks']): string[] => checks.map(({ verdict }) => verdict);

describe('a check that compares with the state before', () => {
  const checks: Checks = [
    { entity: 'issues', where: { id: 10 }, changed: ['state'] },
    { entity: 'issues', where: { id: 10 }, unchanged: ['title'] },
    { entity: 'issues', where: { id: 10 }, changed: ['state'], unchanged: ['title', 'labels'] },
    { entity: 'issues', where: { id: 10 }, increased_by: { number: 5 } },
  ];

  it('passes if the described change happened, and no other', async () => {
    const moved: Step = ['tool', 'update_issues', { id: 10, number: 6 }];
    expect(verdicts(await judge(checks, [closeIssue, moved]))).toEqual([
      'pass',
      'pass',
      'pass',
      'pass',
    ]);
  });

  it('fails if nothing changed, if the change was undone, or if more changed, and reports both values', async () => {
    const reopen: Step = ['tool', 'update_issues', { id: 10, state: 'open' }];
    const found = await judge(checks, [closeIssue, reopen, rename]);
    expect(found).toMatchObject([
      { verdict: 'fail', detail: 'state is "open" as it was' },
      { verdict: 'fail', detail: 'title was "Crash at start" and is "Crash when it starts"' },
      { verdict: 'fail' },
      { verdict: 'fail', detail: 'number was 1 and is 1' },
    ]);
  });

  it('fails for a row that did not exist when the task began', async () => {
    const row = { id: 99, owner: 'ann', repo: 'engine', number: 99, title: 'New', state: 'open' };
    const [check] = await judge(
      [{ entity: 'issues', where: { id: 99 }, unchanged: ['title'] }],
      [['tool', 'create_issues', row]],
    );
    expect(check).toMatchObject({
      verdict: 'fail',
      detail: 'it was not there when the task began',
    });
  });
});

describe('a check of related rows', () => {
  const open = { entity: 'issues', where: { state: 'open' } };

  it('requires any, all or none of the rows of a relationship, in both directions', async () => {
    const engine = { entity: 'repos', where: { owner: 'ann', name: 'engine' } };
    const checks: Checks = [
      { ...engine, any: open },
      { ...engine, all: open },
      { ...engine, none: { entity: 'issues', where: { title: 'Nothing' } } },
      { entity: 'issues', where: { id: 10 }, any: { entity: 'repos', where: { private: false } } },
    ];
    expect(verdicts(await judge(checks, []))).toEqual(['pass', 'pass', 'pass', 'pass']);
    const [, all] = await judge(checks, [closeIssue]);
    expect(all).toMatchObject({
      verdict: 'fail',
      expected: expect.stringContaining('all of its issues where state is "open"'),
      detail: expect.stringMatching(/^of its \d rows of issues, /),
    });
  });
});

describe('a check of the answer', () => {
  const checks: Checks = [
    { name: 'exact', kind: 'answer', equals: { issue: 10 } },
    { name: 'near', kind: 'answer', equals: 3.14, tolerance: 0.01 },
    { name: 'set', kind: 'answer', as: 'set', equals: ['a', 'b'] },
  ];
  const afterAnswer = async (...answers: unknown[]): Promise<string[]> =>
    verdicts(
      await judge(
        checks,
        answers.map((answer): Step => ['answer', undefined, { answer }]),
      ),
    );

  it('accepts equal JSON, a number within the tolerance, or a list with the same items', async () => {
    expect(await afterAnswer({ issue: 10 })).toEqual(['pass', 'fail', 'fail']);
    expect(await afterAnswer(3.149)).toEqual(['fail', 'pass', 'fail']);
    expect(await afterAnswer(['b', 'a', 'b'])).toEqual(['fail', 'fail', 'pass']);
  });

  it('judges the last answer, and fails if there is none', async () => {
    expect(await afterAnswer(3.14, 'no')).toEqual(['fail', 'fail', 'fail']);
    const [none] = await judge(checks, []);
    expect(none).toMatchObject({ verdict: 'fail', found: 'no answer' });
    const [forgotten] = await judge(checks, [
      ['answer', undefined, { answer: { issue: 10 } }],
      ['reset'],
    ]);
    expect(forgotten).toMatchObject({ verdict: 'fail', found: 'no answer' });
  });
});

describe('a check with an order', () => {
  const checks: Checks = [
    { name: 'closed', entity: 'issues', where: { id: 10, state: 'closed' } },
    {
      name: 'renamed first',
      entity: 'issues',
      where: { id: 10, title: 'Crash when it starts' },
      before: 'closed',
    },
    {
      name: 'asked after',
      entity: 'svc_requests',
      where: { operation: 'list_issues' },
      after: 'closed',
    },
    {
      name: 'never asked before',
      entity: 'svc_requests',
      where: { operation: 'list_issues' },
      count: 0,
      before: 'closed',
    },
    { name: 'answered last', kind: 'answer', equals: 10, after: 'closed' },
  ];
  const list: Step = ['tool', 'list_issues', {}];
  const answer: Step = ['answer', undefined, { answer: 10 }];

  it('passes if the changes came in that order, also changes of different fields of one row', async () => {
    const found = await judge(checks, [rename, closeIssue, list, answer]);
    expect(verdicts(found)).toEqual(['pass', 'pass', 'pass', 'pass', 'pass']);
  });

  it('fails if the changes came in another order, and reports that order', async () => {
    const found = await judge(checks, [answer, list, closeIssue, rename]);
    expect(verdicts(found)).toEqual(['pass', 'fail', 'fail', 'fail', 'fail']);
    expect(found[1]?.detail).toBe('it came after "closed"');
    expect(found[4]?.detail).toBe('it came before "closed"');
  });

  it('fails if the other change did not happen', async () => {
    const found = await judge(checks, [rename]);
    expect(found[1]).toMatchObject({
      verdict: 'fail',
      detail: '"closed" did not happen, or the ledger does not say when',
    });
  });
});

describe('a check of texts', () => {
  it('finds a regular expression in a text, but never in a value of another type', async () => {
    const checks: Checks = [
      { entity: 'issues', where: { title: { matches: '^Crash at \\w+$' } }, count: 1 },
      { entity: 'issues', where: { title: { matches: '(a+)+$' } }, count: 0 },
      { entity: 'users', where: { login: { matches: '.' } }, count: { min: 2 } },
    ];
    expect(verdicts(await judge(checks, []))).toEqual(['pass', 'pass', 'pass']);
  });
});
