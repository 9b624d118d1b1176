/**
 * Proves a task in four parts. First, a session in which nothing is done fails. Second, each solution passes, and fails
 * if any one of its steps is left out. Third, if the end state is changed in a way that a check must detect, that check
 * fails. Fourth, the names in the instruction exist. Changes are judged check by check: in a closed world every change
 * fails the grade, which would hide a check that never fails.
 */

import { setImmediate } from 'node:timers/promises';
import type { GivenCheck } from '#language/checks.ts';
import { nameStep, type Script, type Step } from '#language/solution.ts';
import type { RowDifference } from '#store/write/state-before.ts';
import type { Proof, ProofRow } from '#wire/public-api/evaluation/proof.ts';
import type { SolutionSpec } from '#wire/public-api/worlds/solution.ts';
import type { Session } from '../session/session.ts';
import { type Change, changesFor } from './check-changes.ts';
import { type Judged, judge } from './judge.ts';
import { unknownNames } from './names.ts';
import { type Played, playSteps, type RunOther, refusalIn } from './play.ts';
import { createReport, type Report } from './report.ts';
import { changesAround } from './row-changes.ts';
import { runScript } from './script.ts';
import { openStage, type Stage } from './stage.ts';

/** Time limit of a proof, in milliseconds. The next constant is the maximum number of changes that a proof tries. */
const mostMs = 300_000;
const mostChanges = 400;
const mostDifferences = 1_000;

type Proving = {
  stage: Stage;
  run: RunOther;
  report: Report;
  signal: AbortSignal;
  /** Number of changes tried so far. */
  tried: number;
};

/** Solution of the task; `script` is set if the steps are recorded from a script. */
type Solution = { name: string; steps: readonly Step[]; isMain: boolean; script?: Script };

const rowOf = (
  kind: ProofRow['kind'],
  what: string,
  expected: 'pass' | 'fail',
  judged: Judged,
): ProofRow => ({
  kind,
  what,
  expected,
  verdict: judged.verdict,
  ok: judged.verdict === expected,
  detail: judged.verdict === expected && expected === 'pass' ? null : judged.detail,
});

const proveIdle = async ({ stage, report }: Proving): Promise<void> => {
  await stage.begin();
  const idle = await judge(stage.session);
  report.saw(idle);
  report.add(rowOf('idle', 'doing nothing', 'fail', idle));
  if (Object.values(stage.session.task?.seed?.rows ?? {}).flat().length === 0) return;
  await stage.beginWithoutSeed();
  const bare = await judge(stage.session);
  // The graded rows may be part of the seed, and then there is nothing to judge.
  const row = rowOf('idle', 'doing nothing, without the seed', 'fail', bare);
  report.add({ ...row, ok: bare.verdict !== 'pass' });
};

/** Plays a solution, starting from the task's initial state. */
const carryOut = async (
  { stage, run, signal }: Proving,
  steps: readonly Step[],
  without?: number,
): Promise<(Played | undefined)[]> => {
  await setImmediate();
  signal.throwIfAborted();
  await stage.begin();
  return playSteps(stage.session, run, { steps, without, signal });
};

const proveStep = async (
  proving: Proving,
  { name, steps, isMain, script }: Solution,
  index: number,
  played: Played | undefined,
): Promise<void> => {
  const { stage, report } = proving;
  const step = steps[index];
  const isScript = script !== undefined;
  if (step === undefined) return;
  const named = `step ${index + 1}, ${nameStep(step)}`;
  await carryOut(proving, steps, index);
  const judged = await judge(stage.session);
  report.saw(judged);
  const row = rowOf('step', `${name} without ${named}`, 'fail', judged);
  if (judged.verdict !== 'pass') return report.add(row);
  if (played?.changed !== true) {
    if (!isScript) report.add({ ...row, ok: true, detail: 'the step only reads' });
    return;
  }
  report.notGraded(`${name}, ${named}`);
  const detail = 'the step changes something that no check looks at: leave it out, or add a check';
  report.add({ ...row, ok: !isMain, detail });
};

/**
 * Runs a solution's script, if it has one, and reports the result. Returns the solution with the steps that the script
 * took, or unchanged if it has no script; undefined if the script failed.
 */
const runSolution = async (proving: Proving, solution: Solution): Promise<Solution | undefined> => {
  const { stage, run, report, signal } = proving;
  if (solution.script === undefined) return solution;
  await stage.begin();
  const { steps, fault } = await runScript(stage.session, run, solution.script, signal);
  const judged = await judge(stage.session);
  const row = rowOf('solution', `${solution.name}, by its script`, 'pass', judged);
  report.add(fault === undefined ? row : { ...row, ok: false, detail: fault });
  return row.ok && fault === undefined ? { ...solution, steps } : undefined;
};

/** Solution that passes: its grade, and the steps that it took. */
type Passed = { judged: Judged; steps: readonly Step[] };

/**
 * Proves that a solution passes, and fails if any one of its steps is left out. Returns undefined if the solution does
 * not pass.
 */
const proveSolution = async (proving: Proving, given: Solution): Promise<Passed | undefined> => {
  const { stage, report } = proving;
  const solution = await runSolution(proving, given);
  if (solution === undefined) return undefined;
  const { name, steps } = solution;
  const played = await carryOut(proving, steps);
  const judged = await judge(stage.session);
  const refusal = refusalIn(steps, played);
  const row = rowOf('solution', name, 'pass', judged);
  if (refusal === undefined) report.add(row);
  else report.add({ ...row, ok: false, detail: refusal });
  if (judged.verdict !== 'pass' || refusal !== undefined) return undefined;
  for (const index of steps.keys()) await proveStep(proving, solution, index, played[index]);
  return { judged, steps };
};

/** Applies a change to the end state and grades the result; returns undefined if the change cannot be applied. */
const judgeChange = async (
  proving: Proving,
  steps: readonly Step[],
  change: Change,
): Promise<Judged | undefined> => {
  const { stage, report } = proving;
  proving.tried += 1;
  if (proving.tried > mostChanges) return undefined;
  await carryOut(proving, steps);
  if (!(await change.make(stage.session))) return undefined;
  const judged = await judge(stage.session);
  report.saw(judged);
  return judged;
};

const proveCheck = async (
  proving: Proving,
  steps: readonly Step[],
  { check, index, name }: { check: GivenCheck; index: number; name: string },
): Promise<void> => {
  const { report, stage } = proving;
  for (const change of changesFor(stage.session.world.contract, check)) {
    const judged = await judgeChange(proving, steps, change);
    if (judged === undefined) continue;
    const verdict = judged.checks[index]?.verdict ?? judged.verdict;
    const ok = verdict === 'fail';
    const what = `"${name}" when ${change.what}`;
    const detail = ok ? null : (judged.detail ?? 'the check does not see it');
    report.add({ kind: 'change', what, expected: 'fail', verdict, ok, detail });
  }
};

const differencesOf = (session: Session): RowDifference[] => {
  const found: RowDifference[] = [];
  for (const one of session.world.store.changesSinceTask()) {
    found.push(one);
    if (found.length >= mostDifferences) break;
  }
  return found;
};

/**
 * Proves a grader whose code does not declare what it examines: tries changes until each of its checks has failed once.
 */
const proveCode = async (
  proving: Proving,
  steps: readonly Step[],
  names: readonly string[],
): Promise<void> => {
  const { report, stage } = proving;
  await carryOut(proving, steps);
  const { store, contract } = stage.session.world;
  const differences = await store.exclusively(() => differencesOf(stage.session));
  const first = new Map<number, string>();
  for (const change of changesAround(store, contract, differences)) {
    if (names.every((_, index) => report.hasBitten(index))) break;
    const before = names.map((_, index) => report.hasBitten(index));
    await judgeChange(proving, steps, change);
    for (const index of names.keys()) {
      if (before[index] === false && report.hasBitten(index)) first.set(index, change.what);
    }
  }
  for (const [index, name] of names.entries()) {
    const seen = report.hasBitten(index);
    const how = first.get(index);
    report.add({
      kind: 'change',
      what: `"${name}" when something is amiss`,
      expected: 'fail',
      verdict: seen ? 'fail' : 'pass',
      ok: seen,
      detail: seen ? (how === undefined ? null : `it saw that ${how}`) : neverBites,
    });
  }
};

const neverBites = 'the check passed whatever was tried: it never bites';

const proveChecks = async (
  proving: Proving,
  steps: readonly Step[],
  passed: Judged,
): Promise<string[]> => {
  const { report, stage } = proving;
  const grader = stage.session.task?.grader;
  const names = passed.checks.map(({ name }) => name);
  if (grader?.kind !== 'assertions') {
    // The check that nothing else changed is not one of the code's own, and comes last.
    const own = grader?.changes?.closed === true ? names.slice(0, -1) : names;
    await proveCode(proving, steps, own);
    return own;
  }
  const asked = names.slice(0, grader.checks.length);
  for (const [index, check] of grader.checks.entries()) {
    const name = names[index] ?? '';
    await proveCheck(proving, steps, { check, index, name });
    if (report.hasBitten(index)) continue;
    const what = `"${name}" when something is amiss`;
    const row = { kind: 'change', what, expected: 'fail', verdict: 'pass', ok: false } as const;
    report.add({ ...row, detail: neverBites });
  }
  return asked;
};

const proveNames = async ({ stage, report }: Proving): Promise<void> => {
  await stage.begin();
  const unknown = await unknownNames(stage.session);
  report.add({
    kind: 'names',
    what: 'the instruction names what there is',
    expected: 'pass',
    verdict: unknown.length === 0 ? 'pass' : 'fail',
    ok: unknown.length === 0,
    detail: unknown.length === 0 ? null : unknown.join('; '),
  });
};

const solutionOf = (name: string, isMain: boolean, given: SolutionSpec): Solution =>
  'script' in given
    ? { name, isMain, steps: [], script: given.script }
    : { name, isMain, steps: given.steps as Step[] };

const solutionsOf = ({ task }: Session): { main: Solution | undefined; others: Solution[] } => {
  const { solution, alternatives = [] } = task ?? {};
  const others = alternatives.map((one, index) =>
    solutionOf(`alternative ${index + 1}`, false, one),
  );
  return { main: solution && solutionOf('the solution', true, solution), others };
};

const lacking: ProofRow = {
  kind: 'solution',
  what: 'the solution',
  expected: 'pass',
  verdict: null,
  ok: false,
  detail: 'the task has none: add "solution" with its steps, or a script',
};

const proveAll = async (proving: Proving): Promise<string[]> => {
  const { stage, report } = proving;
  await proveIdle(proving);
  const { main, others } = solutionsOf(stage.session);
  if (main === undefined) report.add(lacking);
  const passed = main && (await proveSolution(proving, main));
  for (const solution of others) await proveSolution(proving, solution);
  const checks =
    passed === undefined ? [] : await proveChecks(proving, passed.steps, passed.judged);
  await proveNames(proving);
  return checks;
};

/**
 * Proves the task of a session and restores the session's initial state. No other caller may use the session meanwhile.
 * If a proof takes too long, it ends with a row that reports the timeout.
 */
export const prove = async (session: Session, run: RunOther): Promise<Proof> => {
  const stage = openStage(session);
  const report = createReport();
  const signal = AbortSignal.timeout(mostMs);
  const proving = { stage, run, report, signal, tried: 0 };
  try {
    return report.end(await proveAll(proving));
  } catch (error) {
    if (!signal.aborted) throw error;
    const detail = `the proof was not over after ${mostMs / 1_000} s: what follows was not tried`;
    const what = 'the proof ends in time';
    report.add({ kind: 'solution', what, expected: 'pass', verdict: null, ok: false, detail });
    return report.end([]);
  } finally {
    await stage.end();
  }
};
