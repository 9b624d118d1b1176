/**
 * Applies the task's grader to the state that a session left, all of it at one moment. Each kind of grader returns
 * checks. This file combines them into one verdict and adds what changed since the task began.
 */

import type { CallError } from '#domain/call.ts';
import { cut } from '#domain/cut.ts';
import { verdictOfAll } from '#domain/grade.ts';
import { ledgerEntity } from '#domain/ledger.ts';
import { limits } from '#domain/limits.ts';
import type { Grade } from '#wire/public-api/sessions/grade.ts';
import type { TaskSpec } from '#wire/public-api/worlds/task-spec.ts';
import { findAnswerFault } from '../calls/answers/answerable.ts';
import { callErrorOf } from '../calls/answers/failure.ts';
import type { Session } from '../session/session.ts';
import type { Verdict } from '../verifier/protocol.ts';
import { startVerifier } from '../verifier/verifier.ts';
import { asksLedger, explainingChecks, judgeChecks, wholeLedger } from './assertions.ts';
import {
  type CachedGrade,
  cacheGrade,
  findGrade,
  type GradedState,
  stateOf,
} from './cached-grade.ts';
import type { ExplainingCheck } from './changes/explain.ts';
import { type ExplainedChanges, explainChanges } from './changes/grade-changes.ts';
import type { Page } from './changes/report.ts';
import { type CheckResult, verdictOf } from './check-result.ts';
import { closedCheck } from './closed.ts';
import { gradeByPython } from './grade-by-python.ts';
import { createPause } from './pauses.ts';
import { createRowsBefore } from './state-before.ts';
import { createTimes } from './times.ts';

type Grader = NonNullable<TaskSpec['grader']>;

type GraderOf<Kind extends Grader['kind']> = Extract<Grader, { kind: Kind }>;

/** Grade without the changes. */
type GradeHead = Omit<GradeChecks, 'changes' | 'unexplained'>;

/**
 * Function that reads the changes. Graders call it in the moment whose state they judge, with the checks that explain
 * changes.
 */
type LookAtChanges = (checks: readonly ExplainingCheck[]) => Promise<void>;

const gradeByAssertions = (
  { world, ledger, answer }: Session,
  { checks }: GraderOf<'assertions'>,
  look: LookAtChanges,
): Promise<CheckResult[]> =>
  world.store.exclusively(async () => {
    const noted = ledger.asOfNow();
    const { store, contract } = world;
    const sources = {
      entities: contract.entities,
      store,
      ledger: noted,
      before: createRowsBefore(store),
      times: createTimes(noted, contract.entities),
      pause: createPause(),
      answer,
    };
    const results = await judgeChecks(checks, sources);
    await look(await explainingChecks(checks, results, sources));
    return checks.some(asksLedger) ? [...results, ...wholeLedger(noted.missing)] : results;
  });

/** Failed check for a grader's query that returns no row, because such a query does not say that the task is done. */
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
  look: LookAtChanges,
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
      await look([]);
      await verifier.copy(world.store, noted);
      return noted.missing;
    });
    const verdicts = await verifier.judge();
    const checks = verdicts.length === 0 ? [noVerdict] : verdicts.map(toCheck);
    const isAsked = source.toLowerCase().includes(ledgerEntity);
    return isAsked ? [...checks, ...wholeLedger(missing)] : checks;
  } finally {
    await verifier.end();
  }
};

const gradeBy = (session: Session, grader: Grader, look: LookAtChanges): Promise<CheckResult[]> => {
  switch (grader.kind) {
    case 'assertions':
      return gradeByAssertions(session, grader, look);
    case 'python':
      return gradeByPython(session, grader, () => look([]));
    case 'sql':
      return gradeBySql(session, grader, look);
  }
};

/**
 * Returns the share of the weights that belongs to passed checks, from 0 to 1. If no check has a weight, returns 1 if
 * all checks passed, else 0.
 */
const scoreOf = (checks: readonly CheckResult[]): number => {
  const sum = (list: readonly CheckResult[]): number =>
    list.reduce((total, { weight = 1 }) => total + weight, 0);
  const all = sum(checks);
  const passed = checks.filter((check) => check.passed);
  if (all === 0) return passed.length === checks.length ? 1 : 0;
  return sum(passed) / all;
};

type GradeChecks = Omit<Grade, 'checks'> & { checks: CheckResult[] };

const sumUp = (checks: CheckResult[]): Pick<Grade, 'verdict' | 'passed' | 'score'> => {
  const verdict = verdictOfAll(checks);
  const score = verdict === 'unknown' ? null : scoreOf(checks);
  return { verdict, passed: verdict === 'pass', score };
};

/** Returns the grade for a session that its grader could not judge: the verdict is `unknown`. */
const ungraded = ({ code, message, details }: CallError): GradeHead => ({
  verdict: 'unknown',
  passed: false,
  score: null,
  checks: [],
  error: {
    code: cut(code, limits.nameChars),
    message: cut(message, limits.messageChars),
    ...(details === undefined || findAnswerFault({ details }) !== undefined ? {} : { details }),
  },
});

/** Grades a session, and caches the grade for requests for further pages of the changes. */
const gradeAnew = async (session: Session, grader: Grader): Promise<CachedGrade<GradeHead>> => {
  let changes: ExplainedChanges | undefined;
  let state: GradedState | undefined;
  const look: LookAtChanges = async (checks) => {
    state = stateOf(session, grader);
    changes = await explainChanges(session, { changes: grader.changes, checks });
  };
  const judge = async (): Promise<GradeHead> => {
    try {
      const checks = await gradeBy(session, grader, look);
      checks.push(...closedCheck(grader.changes ?? {}, changes?.page()));
      return { ...sumUp(checks), checks };
    } catch (error) {
      const known = callErrorOf(error);
      if (known === undefined) throw error;
      return ungraded(known);
    }
  };
  const graded = { head: await judge(), changes };
  cacheGrade(session, state, graded);
  return graded;
};

/**
 * Grades a session in its present state. Equal states have equal grades, byte for byte. With a page, returns that page
 * of the last grade if nothing has happened since. If a grader cannot judge, the verdict is `unknown`. Throws only for
 * a fault of the host.
 */
export const gradeSession = async (
  session: Session,
  grader: Grader,
  page?: Page | undefined,
): Promise<GradeChecks> => {
  const cached = page === undefined ? undefined : await findGrade<GradeHead>(session, grader);
  const { head, changes } = cached ?? (await gradeAnew(session, grader));
  return { ...head, ...changes?.page(page) };
};
