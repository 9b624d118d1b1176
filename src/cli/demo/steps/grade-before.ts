/** Step 6: the task is graded before anything was done; that must fail, and say why. */
import type { Client } from '#wire/client.ts';
import { sendCall } from '../../calls.ts';
import type { Colors } from '../../context.ts';
import { describeGrade, type Grade, outputOf } from '../../views/call.ts';
import { expectEqual } from '../expect.ts';
import { checksHeldFromTheStart, checksOfTheWork } from '../story.ts';
import type { Step } from '../timeline.ts';

export type GradeOptions = {
  client: Client;
  sessionId: string;
  colors: Colors;
  signal: AbortSignal;
};

/** Grades and shows each check; `failing` are the checks that must fail, by name. */
export const grade = async (
  step: Step,
  { client, sessionId, colors, signal }: GradeOptions,
  failing: readonly string[],
): Promise<Grade> => {
  const call = await sendCall({ client, sessionId, call: { kind: 'grade' }, signal });
  const result = outputOf(call) as Grade;
  step.note(describeGrade(result, colors));
  const all = [...checksOfTheWork, ...checksHeldFromTheStart].sort();
  expectEqual('the checks', result.checks.map(({ name }) => name).sort(), all);
  const failed = result.checks.filter(({ passed }) => !passed).map(({ name }) => name);
  expectEqual('the checks that fail', failed.sort(), [...failing].sort());
  expectEqual('whether it passed', result.passed, failing.length === 0);
  return result;
};

export const gradeBefore = (step: Step, options: GradeOptions): Promise<Grade> =>
  grade(step, options, checksOfTheWork);
