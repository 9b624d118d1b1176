/**
 * Tests that the graders of the template `code-hosting` agree with a person about the states that agents leave behind.
 * The cases are the right result, the right result by another way, half of the result, and the right result in the
 * wrong place or with a side effect.
 */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type CodeHost, openCodeHost } from '#test/support/templates/code-hosting.ts';
import {
  closeDuplicate,
  declineWithAReason,
  followUpNeedsInfo,
} from '#test/support/worlds/end-states/issues.ts';
import {
  handOverWork,
  howLongMergesTake,
  labelWhatHasNone,
  openAnIncident,
  whoIsWaitedFor,
} from '#test/support/worlds/end-states/people.ts';
import {
  deleteMergedBranches,
  mergeWhatIsReady,
  moveToNextRelease,
  planTheNextVersion,
  publishWithNotes,
  slipOneRelease,
} from '#test/support/worlds/end-states/releases.ts';
import { type EndState, follow, solutionsOf } from '#test/support/worlds/end-states/state.ts';

const tables = [
  closeDuplicate,
  declineWithAReason,
  deleteMergedBranches,
  followUpNeedsInfo,
  handOverWork,
  howLongMergesTake,
  labelWhatHasNone,
  mergeWhatIsReady,
  moveToNextRelease,
  openAnIncident,
  planTheNextVersion,
  publishWithNotes,
  slipOneRelease,
  whoIsWaitedFor,
];

const world = await openCodeHost();
afterAll(() => world.stop());

type Grade = {
  verdict: string;
  passed: boolean;
  checks: { name: string; passed: boolean }[];
};

const reach = async (host: CodeHost, task: string, { first, next }: EndState): Promise<void> => {
  const { solution, alternatives } = solutionsOf(task);
  if (first === 'solution') await follow(host, solution);
  if (first === 'alternative') for (const other of alternatives) await follow(host, other);
  await next?.(host);
};

const gradeNow = async (): Promise<{ text: string; grade: Grade }> => {
  const { output, error } = await world.call('grade');
  expect(error).toBeUndefined();
  return { text: JSON.stringify(output), grade: output as Grade };
};

it('this test has end states for each task of the template', () => {
  expect(tables.map(({ task }) => task)).toEqual(world.contract.tasks.map(({ name }) => name));
});

describe.each(tables)('an end state of $task', ({ task, states }) => {
  beforeEach(() => world.begin(task));

  it.each(states)('is graded as a $verdict: $what', async (state) => {
    await reach(world, task, state);
    const { text, grade } = await gradeNow();
    const failing = grade.checks.filter(({ passed }) => !passed).map(({ name }) => name);
    expect({ verdict: grade.verdict, failing }).toEqual({
      verdict: state.verdict,
      failing: state.verdict === 'pass' ? [] : expect.arrayContaining(state.because ?? []),
    });
    expect((await gradeNow()).text).toBe(text);
  });
});
