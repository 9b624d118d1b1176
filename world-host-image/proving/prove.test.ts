import { describe, expect, it } from 'vitest';
import { issues, openOn, startBench } from '#test/support/host/host-bench.ts';
import type { Proof } from '#wire/public-api/evaluation/proof.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';

type Grader = NonNullable<TaskSpec['grader']>;
type Checks = Extract<Grader, { kind: 'assertions' }>['checks'];

const close = { tool: 'update_issues', input: { id: 11, state: 'closed' } };
const addUser = { tool: 'create_users', input: { login: 'cy', id: 3 } };
const closed = { name: 'closed', entity: 'issues', where: { number: 2, state: 'closed' } };
const known = { name: 'cy is known', entity: 'users', where: { login: 'cy' }, count: 1 };

const assertions = (...checks: Checks): Grader => ({ kind: 'assertions', checks });

const proveOn = async (task: TaskSpec) => {
  const bench = await startBench();
  const api = await openOn(bench.control, { task });
  const before = await bench.control.call('state');
  const { output, error } = await bench.control.call('prove');
  expect(error).toBeUndefined();
  expect(await bench.control.call('state')).toEqual(before);
  return { ...(output as Proof), api, control: bench.control };
};

const amiss = ({ rows }: Proof) => rows.filter(({ ok }) => !ok).map(({ what }) => what);

describe('a proof of a task', () => {
  it('passes a task whose grader detects every change', async () => {
    const task: TaskSpec = {
      instruction: 'Close issue 2 with `update_issues`, and make cy known.',
      grader: assertions(closed, known, {
        name: 'no one else is new',
        entity: 'users',
        where: {},
        count: { max: 3 },
      }),
      solution: { steps: [close, addUser] },
      alternatives: [
        {
          steps: [
            addUser,
            { request: { method: 'PATCH', path: `${issues}/2`, body: { state: 'closed' } } },
          ],
        },
      ],
    };
    const proof = await proveOn(task);
    expect(amiss(proof)).toEqual([]);
    expect(proof).toMatchObject({ passed: true, notGraded: [], neverBites: [] });
    const whats = proof.rows.map(({ what }) => what);
    expect(whats).toContain('the solution without step 2, create_users');
    expect(whats).toContain(`alternative 1 without step 2, PATCH ${issues}/2`);
    expect(whats).toContain('"closed" when state is another');
    expect(whats).toContain('"no one else is new" when there is one row more');
  });

  it('reports a check that never fails, a step that no check grades, and an unknown name in the instruction', async () => {
    const proof = await proveOn({
      instruction: 'Use close_issues.',
      grader: assertions(closed, {
        name: 'issues have a state',
        entity: 'issues',
        where: { state: ['open', 'closed'] },
        count: { min: 0 },
      }),
      solution: { steps: [close, addUser, { tool: 'list_issues', input: {} }] },
    });
    expect(proof).toMatchObject({
      passed: false,
      notGraded: ['the solution, step 2, create_users'],
      neverBites: ['issues have a state'],
    });
    expect(amiss(proof)).toEqual([
      'the solution without step 2, create_users',
      '"issues have a state" when something is amiss',
      'the instruction names what there is',
    ]);
  });

  it('reports a grader that passes an agent that does nothing, and a solution whose step is refused', async () => {
    const proof = await proveOn({
      seed: { rows: { users: [{ login: 'cy', id: 3 }] } },
      grader: assertions(known),
      solution: { steps: [addUser] },
    });
    expect(proof.passed).toBe(false);
    expect(amiss(proof)).toEqual(['doing nothing', 'the solution']);
    expect(proof.rows.find(({ what }) => what === 'the solution')?.detail).toMatch(
      /^step 1, create_users: /,
    );
  });

  it('lets a step use the answer of an earlier step', async () => {
    const proof = await proveOn({
      grader: assertions({
        name: 'the new one is closed',
        entity: 'issues',
        where: { title: 'new', state: 'closed' },
      }),
      solution: {
        steps: [
          { request: { method: 'POST', path: issues, body: { title: 'new' } } },
          {
            request: {
              method: 'PATCH',
              path: `${issues}/{steps[0].output.number}`,
              body: { title: { $ref: 'steps[0].output.title' }, state: 'closed' },
            },
          },
        ],
      },
    });
    expect(amiss(proof)).toEqual([]);
  });

  it('grades changes by a grader in Python until each of the grader’s checks has failed', async () => {
    const source = `
def verify(ctx):
    rows = ctx.query("issues")
    ctx.check("closed", all(row["state"] == "closed" for row in rows if row["id"] == 11))
    ctx.check("the rest is as it was", all(row["state"] == "open" for row in rows if row["id"] == 10))
    ctx.check("there are issues", len(rows) >= 0)
`;
    const proof = await proveOn({
      grader: { kind: 'python', source },
      solution: { steps: [close] },
    });
    expect(proof.neverBites).toEqual(['there are issues']);
    expect(amiss(proof)).toEqual(['"there are issues" when something is amiss']);
  });

  it('is not recorded in the ledger, and reports a missing grader or solution', async () => {
    const { control, rows, api } = await proveOn({ grader: assertions(closed) });
    expect(rows.map(({ what, ok }) => [what, ok])).toEqual([
      ['doing nothing', true],
      ['the solution', false],
      ['the instruction names what there is', true],
    ]);
    const { output } = await control.call('state', undefined, { entity: 'svc_requests' });
    expect(output).toMatchObject({ rows: [] });
    expect((await api('GET', issues)).status).toBe(200);
  });
});
