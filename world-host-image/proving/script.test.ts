import { describe, expect, it } from 'vitest';
import { issues, openOn, startBench } from '#test/support/host/host-bench.ts';
import type { Proof } from '#wire/public-api/evaluation/proof.ts';
import type { SolutionSpec } from '#wire/public-api/worlds/solution.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';

const grader: TaskSpec['grader'] = {
  kind: 'assertions',
  checks: [
    { name: 'closed', entity: 'issues', where: { number: 2, state: 'closed' } },
    { name: 'a new one', entity: 'issues', where: { title: 'new', state: 'closed' } },
    { kind: 'answer', name: 'the answer', equals: 3 },
  ],
};

const python = (body: string): SolutionSpec => ({
  script: {
    language: 'python',
    source: `from svc_env.testing import ToolError, world\n\ndef solve():\n${body}`,
  },
});

const solved = `
    listed = world.api.get("${issues}").json()
    for issue in listed:
        if issue["number"] == 2:
            world.tools.update_issues(id=11, state="closed")
    try:
        world.tools.update_issues(id=10_000, state="closed")
    except ToolError:
        pass
    made = world.api.post("${issues}", json={"title": "new"}).json()
    world.api.patch(f"${issues}/{made['number']}", json={"state": "closed"})
    world.answer(len(listed) + 1)
`;

const typescript: SolutionSpec = {
  script: {
    language: 'typescript',
    source: `
import { world } from 'svc_env/testing';
type Issue = { number: number };
export const solve = async () => {
  await world.tools.update_issues({ id: 11, state: 'closed' });
  const made = (await world.api.post('${issues}', { json: { title: 'new' } })).json() as Issue;
  await world.api.patch(\`${issues}/\${made.number}\`, { json: { state: 'closed' } });
  await world.answer(3);
};`,
  },
};

const proveOn = async (task: TaskSpec): Promise<Proof> => {
  const bench = await startBench();
  await openOn(bench.control, { task });
  const before = await bench.control.call('state');
  const { output, error } = await bench.control.call('prove');
  expect(error).toBeUndefined();
  expect(await bench.control.call('state')).toEqual(before);
  return output as Proof;
};

const amiss = ({ rows }: Proof) => rows.filter(({ ok }) => !ok).map(({ what }) => what);
const whatsOf = ({ rows }: Proof) => rows.map(({ what }) => what);

describe('a script that solves a task', () => {
  it('is proved step by step in Python', async () => {
    const proof = await proveOn({ grader, solution: python(solved) });
    expect(amiss(proof)).toEqual([]);
    const whats = whatsOf(proof);
    expect(whats.slice(0, 3)).toEqual([
      'doing nothing',
      'the solution, by its script',
      'the solution',
    ]);
    const steps = whats.filter((what) => what.startsWith('the solution without'));
    // Actions that only read, and refused ones, are not steps that could be left out.
    expect(steps.map((step) => step.replace(/^.*?step \d+, /, ''))).toEqual([
      'update_issues',
      `POST ${issues}`,
      expect.stringMatching(/^PATCH /),
      'answer',
    ]);
  });

  it('is proved in TypeScript as an alternative to a solution in Python', async () => {
    const proof = await proveOn({
      grader,
      solution: python(solved),
      alternatives: [typescript],
    });
    expect(amiss(proof)).toEqual([]);
    expect(whatsOf(proof)).toContain('alternative 1 without step 1, update_issues');
  });

  it.each([
    [
      'raises',
      '    raise ValueError("no way")\n',
      /raised: ValueError: no way .solution\.py:4 in solve/,
    ],
    ['has no function solve', '    pass\n\nsolve = None\n', /no function solve/],
    [
      'reads rows that an agent cannot',
      '    world.get("issues", {"id": 11})\n',
      /acts as an agent does.*"get"/,
    ],
    [
      'takes too many steps',
      '    for _ in range(200):\n        world.tools.list_issues()\n',
      /at most 100 steps/,
    ],
    ['ends its process', '    import os\n    os._exit(0)\n', /crashed: /],
  ])('fails the proof if it %s', async (_, body, detail) => {
    const proof = await proveOn({ grader, solution: python(body) });
    expect(amiss(proof)).toEqual(['the solution, by its script']);
    expect(proof.rows.find(({ ok }) => !ok)?.detail).toMatch(detail);
  });

  it('fails the proof if it does not solve the task', async () => {
    const proof = await proveOn({ grader, solution: python('    world.answer(3)\n') });
    expect(amiss(proof)).toEqual(['the solution, by its script']);
    expect(proof.rows.find(({ ok }) => !ok)?.detail).toMatch(/closed/);
  });
});
