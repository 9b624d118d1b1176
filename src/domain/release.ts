/**
 * Release gate: the verdict on an agent's build, based on the build's agent runs. An agent run is a set of sessions,
 * called rollouts; each graded session counts as one rollout, however often it was graded. The state of a run is
 * computed from its sessions on each read, so nothing has to be written to the run when a session ends.
 */

export const runStates = ['RUNNING', 'COMPLETED', 'INCOMPLETE'] as const;
/**
 * States of an agent run. `RUNNING`: more rollouts are expected. `COMPLETED`: every rollout, or as many as planned, is
 * graded. `INCOMPLETE`: the run ended with rollouts that were not graded.
 */
export type RunState = (typeof runStates)[number];

export const gateVerdicts = ['pass', 'blocked', 'untested'] as const;
export type GateVerdict = (typeof gateVerdicts)[number];

/** Counts and flags of an agent run, from which its state is computed. */
export type RunProgress = {
  /** Number of planned rollouts; null if the run does not declare it. */
  planned: number | null;
  /** True if a client declared that no more sessions follow. */
  isFinished: boolean;
  /** True if no session of the run was opened or ended for `idleHours`. */
  isIdle: boolean;
  /**
   * Number of sessions that were graded, of graded sessions that passed, of sessions that may still be graded, and of
   * sessions that ended without a grade.
   */
  graded: number;
  passed: number;
  going: number;
  ungraded: number;
};

/** Hours without a session after which a run with fewer rollouts than planned counts as ended. */
export const idleHours = 24;

const isGoing = ({
  planned,
  isFinished,
  isIdle,
  graded,
  going,
  ungraded,
}: RunProgress): boolean => {
  if (isFinished) return false;
  return going > 0 || (!isIdle && planned !== null && graded + ungraded < planned);
};

const isComplete = ({ planned, isFinished, graded, going, ungraded }: RunProgress): boolean => {
  const isWhole = ungraded + going === 0;
  if (planned === null) return isWhole;
  return graded >= planned || (isFinished && isWhole);
};

/**
 * Returns the state of a run. A run that has ended is `RUNNING` again as soon as a client opens another session in it.
 */
export const runStateOf = (run: RunProgress): RunState => {
  if (isGoing(run)) return 'RUNNING';
  return isComplete(run) ? 'COMPLETED' : 'INCOMPLETE';
};

/** Returns the share of the graded rollouts that passed; null if no rollout was graded. */
export const passRateOf = ({ graded, passed }: Pick<RunProgress, 'graded' | 'passed'>) =>
  graded === 0 ? null : passed / graded;

/** Conditions of the gate: the minimum pass rate, from 0 to 1, and the minimum number of graded rollouts. */
export type GateRule = { threshold: number; floor: number };

/** Input of the gate for one run; `examples` has ids of a few sessions that ended without a grade. */
export type GateRun = RunProgress & { id: string; examples: readonly string[] };

export type Judgement = {
  verdict: GateVerdict;
  passRate: number | null;
  gradedRollouts: number;
  /** Conditions that are not met, each described in one text; empty for `pass`. */
  reasons: string[];
};

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

const goingReason = (run: GateRun): string => {
  const done = run.graded + run.ungraded;
  const of = run.planned === null ? '' : ` of ${run.planned}`;
  return `run ${run.id} is still running: ${done}${of} graded, ${plural(run.going, 'session')} open`;
};

const incompleteReason = (run: GateRun): string => {
  const lacking = run.ungraded + run.going;
  const named = run.examples.length === 0 ? '' : ` (${run.examples.join(', ')})`;
  const without = lacking === 0 ? '' : `: ${plural(lacking, 'session')} without a grade${named}`;
  const plan =
    run.planned === null ? '' : `, ${run.graded} of ${run.planned} planned rollouts graded`;
  return `run ${run.id} ended without completing${without}${plan}`;
};

/** Formats a rate with at least two digits, and with as many as distinguish it from `other`. */
const formatRate = (rate: number, other: number): string => {
  for (let digits = 2; digits < 6; digits += 1) {
    if (rate.toFixed(digits) !== other.toFixed(digits)) return rate.toFixed(digits);
  }
  return String(rate);
};

const ruleReasons = (passRate: number | null, graded: number, rule: GateRule): string[] => {
  const { threshold, floor } = rule;
  const isLow = passRate !== null && passRate < threshold;
  return [
    ...(passRate === null ? ['no rollout was graded'] : []),
    ...(isLow
      ? [
          `the pass rate ${formatRate(passRate, threshold)} is below the threshold ${formatRate(threshold, passRate)}`,
        ]
      : []),
    ...(graded < floor
      ? [`${plural(graded, 'graded rollout')}, but the gate requires at least ${floor}`]
      : []),
  ];
};

/** Returns the gate's verdict on a build, from all agent runs of the build and its commit together. */
export const judge = (runs: readonly GateRun[], rule: GateRule): Judgement => {
  const gradedRollouts = runs.reduce((sum, { graded }) => sum + graded, 0);
  const passed = runs.reduce((sum, run) => sum + run.passed, 0);
  const passRate = passRateOf({ graded: gradedRollouts, passed });
  const found = { passRate, gradedRollouts };
  if (runs.length === 0) {
    return { verdict: 'untested', ...found, reasons: ['no agent run names this build'] };
  }
  const stateIs = (state: RunState) => runs.filter((run) => runStateOf(run) === state);
  const going = stateIs('RUNNING').map(goingReason);
  if (going.length > 0) return { verdict: 'untested', ...found, reasons: going };
  const reasons = [
    ...stateIs('INCOMPLETE').map(incompleteReason),
    ...ruleReasons(passRate, gradedRollouts, rule),
  ];
  return { verdict: reasons.length === 0 ? 'pass' : 'blocked', ...found, reasons };
};
