/**
 * Judges the state that a session left, by the grader of its task, all of it as it is at one moment. Each kind of
 * grader comes to checks; what they come to together is found here.
 */
import { ledgerEntity } from '#domain/ledger.ts';
import type { TaskSpec } from '#wire/public-api/task-spec.ts';
import type { Session } from '../session/session.ts';
import type { Verdict } from '../verifier/protocol.ts';
import { startVerifier } from '../verifier/verifier.ts';
import { checkExpectation, wholeLedger } from './assertions.ts';
import { type CheckResult, verdictOf } from './check-result.ts';
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
  ...verdictOf(false),
  expected: 'a row with passed = 1',
  found: 'no row',
  detail: 'the verifier answered no row',
};

const toCheck = ({ name, passed }: Verdict, index: number): CheckResult => ({
  name: name ?? `check ${index + 1}`,
  ...verdictOf(passed),
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

/** What the checks of a grader come to. */
export type Grade = { passed: boolean; score: number; checks: CheckResult[] };

/** The grade of a session as it is. Throws `CallFailure` where the grader cannot judge. */
export const gradeSession = async (session: Session, grader: Grader): Promise<Grade> => {
  const checks = await gradeBy(session, grader);
  return { passed: checks.every(({ passed }) => passed), score: scoreOf(checks), checks };
};
