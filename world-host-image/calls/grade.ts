/**
 * Call `grade`: judges the state that the session left, by the task's grader. A grade that finds the
 * task undone is a call that succeeded; only a grader that cannot judge fails it.
 */
import type { TaskSpec } from '#wire/public-api/session.ts';
import type { Session } from '../session/session.ts';
import { createGraderAccess } from '../session/store-access.ts';
import type { VerifyReport } from '../usercode/run.ts';
import { type CheckResult, checkExpectation } from './assertions.ts';
import { type RunCall, refuseUnknown } from './call.ts';
import { CallFailure } from './failure.ts';

type Grader = NonNullable<TaskSpec['grader']>;

const pythonTimeoutMs = 120_000;
const pythonFile = 'checks/verify.py';

const gradeByAssertions = (
  { world, ledger }: Session,
  { checks }: Extract<Grader, { kind: 'assertions' }>,
): CheckResult[] =>
  checks.map((check, index) => checkExpectation({ store: world.store, ledger }, check, index));

const gradeByPython = async (
  session: Session,
  { source }: Extract<Grader, { kind: 'python' }>,
): Promise<CheckResult[]> => {
  const { world } = session;
  await world.code.place({ path: pythonFile, content: new TextEncoder().encode(source) });
  const result = await world.code.run({
    language: 'python',
    file: pythonFile,
    function: 'verify',
    as: 'verify',
    input: null,
    access: createGraderAccess(session),
    timeoutMs: pythonTimeoutMs,
  });
  if (!result.ok) throw new CallFailure(result.error);
  const { checks } = result.value as VerifyReport;
  return checks.map((check) => ({ ...check, expected: null, found: null }));
};

export const callGrade: RunCall = async (session, _call, input) => {
  refuseUnknown(input, []);
  const grader = session.task?.grader;
  if (grader === undefined) {
    throw new CallFailure({ code: 'no_grader', message: 'the session has no task with a grader' });
  }
  const checks = await session.world.store.exclusively(() =>
    grader.kind === 'assertions'
      ? gradeByAssertions(session, grader)
      : gradeByPython(session, grader),
  );
  return { output: { passed: checks.every((check) => check.passed), checks }, changes: {} };
};
