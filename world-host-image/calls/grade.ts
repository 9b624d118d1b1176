/**
 * Call `grade`: judges the state that the session left, by the task's grader, all of it as it is at one
 * moment. Whether it passes is found here, from the checks. A grade that finds the task undone is a call
 * that succeeded; only a grader that cannot judge fails it.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import type { TaskSpec } from '#wire/public-api/session.ts';
import type { Session } from '../session/session.ts';
import type { Verdict } from '../verifier/protocol.ts';
import { startVerifier } from '../verifier/verifier.ts';
import { CallFailure } from './answers/failure.ts';
import { type CheckResult, checkExpectation, wholeLedger } from './assertions.ts';
import { type RunCall, refuseUnknown } from './call.ts';
import { gradeByPython } from './grade-by-python.ts';

type Grader = NonNullable<TaskSpec['grader']>;

type GraderOf<Kind extends Grader['kind']> = Extract<Grader, { kind: Kind }>;

const gradeByAssertions = (
  { world, ledger }: Session,
  { checks }: GraderOf<'assertions'>,
): Promise<CheckResult[]> =>
  world.store.exclusively(() => {
    const noted = ledger.asOfNow();
    const sources = { store: world.store, ledger: noted };
    const results = checks.map((check, index) => checkExpectation(sources, check, index));
    const asksLedger = checks.some(({ entity }) => entity === ledgerEntity);
    return asksLedger ? [...results, ...wholeLedger(noted.missing)] : results;
  });

/** A query that finds nothing to judge does not find the task done. */
const noVerdict: CheckResult = {
  name: 'check 1',
  passed: false,
  expected: 'a row with passed = 1',
  found: 'no row',
  detail: 'the verifier answered no row',
};

const toCheck = ({ name, passed }: Verdict, index: number): CheckResult => ({
  name: name ?? `check ${index + 1}`,
  passed,
  expected: null,
  found: null,
  detail: null,
});

const gradeBySql = async (
  { world, ledger }: Session,
  { source }: GraderOf<'sql'>,
): Promise<CheckResult[]> => {
  const { contract, code } = world;
  const verifier = startVerifier({
    contract,
    source,
    bounds: code.bounds,
    file: world.store.upon?.path,
  });
  try {
    const missing = await world.store.exclusively(async () => {
      const noted = ledger.asOfNow();
      await verifier.copy(world.store, noted);
      return noted.missing;
    });
    const verdicts = await verifier.judge();
    const checks = verdicts.length === 0 ? [noVerdict] : verdicts.map(toCheck);
    const asksLedger = source.toLowerCase().includes(ledgerEntity);
    return asksLedger ? [...checks, ...wholeLedger(missing)] : checks;
  } finally {
    await verifier.end();
  }
};

const gradeBy = (session: Session, grader: Grader): Promise<CheckResult[]> => {
  switch (grader.kind) {
    case 'assertions':
      return gradeByAssertions(session, grader);
    case 'python':
      return gradeByPython(session, grader);
    case 'sql':
      return gradeBySql(session, grader);
  }
};

/** The part of all weights that passed, from 0 to 1; where nothing has weight, whether all passed. */
const scoreOf = (checks: readonly CheckResult[]): number => {
  const sum = (list: readonly CheckResult[]): number =>
    list.reduce((total, { weight = 1 }) => total + weight, 0);
  const all = sum(checks);
  const passed = checks.filter((check) => check.passed);
  if (all === 0) return passed.length === checks.length ? 1 : 0;
  return sum(passed) / all;
};

export const callGrade: RunCall = async (session, _call, input) => {
  refuseUnknown(input, []);
  const grader = session.task?.grader;
  if (grader === undefined) {
    throw new CallFailure({ code: 'no_grader', message: 'the session has no task with a grader' });
  }
  const checks = await gradeBy(session, grader);
  const passed = checks.every((check) => check.passed);
  return { output: { passed, score: scoreOf(checks), checks }, changes: {} };
};
