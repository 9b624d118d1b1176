/** Tests the grades of a session on a whole host: verdicts, changes, and that grading does not change the session. */
import { describe, expect, it } from 'vitest';
import { openOn, startBench } from '#test/support/host/host-bench.ts';
import type { Grade } from '#wire/public-api/sessions/grade.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';

type Grader = NonNullable<TaskSpec['grader']>;

const open = async (grader: Grader) => {
  const { control } = await startBench();
  await openOn(control, { task: { grader } });
  const grade = async (input?: object): Promise<Grade> => {
    const { output, error } = await control.call('grade', undefined, input);
    expect(error).toBeUndefined();
    return output as Grade;
  };
  return { control, grade };
};

const closes = (changes?: NonNullable<Grader['changes']>): Grader => ({
  kind: 'assertions',
  checks: [{ name: 'closed', entity: 'issues', where: { id: 11, state: 'closed' } }],
  ...(changes === undefined ? {} : { changes }),
});

const python = (body: string): Grader => ({
  kind: 'python',
  source: `def verify(ctx):\n    ${body}\n`,
});

describe('a grade', () => {
  it.each<[string, Grader, string]>([
    ['crashes', python('ctx.get("issues", {"id": 999})["state"]'), 'raised'],
    ['queries an entity that does not exist', python('ctx.query("wikis")'), 'refused'],
    ['ends its process', python('import os; os._exit(0)'), 'crashed'],
    [
      'queries a table that does not exist',
      { kind: 'sql', source: 'select sum(1) as passed from wikis' },
      'bad_verifier',
    ],
  ])(
    'is unknown if its grader cannot judge, with the reason: a grader that %s',
    async (_, grader, code) => {
      const { control, grade } = await open(grader);
      await control.call('tool', 'update_issues', { id: 11, state: 'closed' });
      const first = await grade();
      expect(first).toMatchObject({
        verdict: 'unknown',
        passed: false,
        score: null,
        checks: [],
        error: { code },
        changes: { updated: 1 },
      });
      expect(JSON.stringify(await grade())).toBe(JSON.stringify(first));
    },
  );

  it('fails a closed world for changes that no check asks for, and reports them', async () => {
    const { control, grade } = await open(closes({ closed: true }));
    expect(await grade()).toMatchObject({ verdict: 'fail', score: 0.5 });
    await control.call('tool', 'update_issues', { id: 11, state: 'closed' });
    expect(await grade()).toMatchObject({
      verdict: 'pass',
      passed: true,
      score: 1,
      unexplained: [],
    });
    await control.call('tool', 'update_issues', { id: 11, title: 'Else' });
    expect(await grade()).toMatchObject({
      verdict: 'fail',
      score: 0.5,
      checks: [
        { name: 'closed', verdict: 'pass' },
        {
          name: 'nothing else changed',
          verdict: 'fail',
          found: 'issues {"id":11} updated (title)',
        },
      ],
      changes: {
        updated: 1,
        unexplained: 1,
        rows: [{ fields: { state: { before: 'open', after: 'closed' } }, explainedBy: ['closed'] }],
      },
      unexplained: [{ key: { id: 11 }, fields: { title: { after: 'Else' } } }],
    });
    await control.call('reset');
    expect(await grade()).toMatchObject({ changes: { updated: 0, rows: [] } });
  });

  it('only reports the changes that no check asks for in an open world, and accepts changes that the task allows', async () => {
    const allow = [{ entity: 'issues', fields: ['title'] }];
    for (const changes of [undefined, { closed: true, allow }]) {
      const { control, grade } = await open(closes(changes));
      await control.call('tool', 'update_issues', { id: 11, state: 'closed', title: 'Else' });
      const found = await grade();
      expect(found).toMatchObject({ verdict: 'pass' });
      expect(found.unexplained).toHaveLength(changes === undefined ? 1 : 0);
    }
  });

  it('is not recorded in the ledger, and returns further pages of changes', async () => {
    const { control, grade } = await open(closes());
    const rows = Array.from({ length: 7 }, (_, id) => ({ login: `user ${id}`, id: 100 + id }));
    await control.call('seed', undefined, { rows: { users: rows } });
    const before = JSON.stringify(await grade());
    const page = await grade({ changes: { offset: 4, limit: 2 } });
    expect(page.changes).toMatchObject({ inserted: 7, next: 6 });
    expect(page.unexplained?.map(({ key }) => key)).toEqual([
      { login: 'user 4' },
      { login: 'user 5' },
    ]);
    expect(JSON.stringify(await grade())).toBe(before);
    const { output } = await control.call('state', undefined, { entity: 'svc_requests' });
    expect(output).toMatchObject({ rows: [{ operation: 'seed' }], total: 1 });
    const refused = await control.call('grade', undefined, { changes: { limit: -1 } });
    expect(refused.error).toMatchObject({ code: 'invalid_input', path: '/changes/limit' });
  });
});
