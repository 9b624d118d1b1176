/**
 * The release gate: what runs of an agent's build come to. A run is a set of sessions, its rollouts; a session that was
 * graded is one, whatever it was graded before. How a run stands is found from its sessions each time, so that nothing
 * has to be told when one ends.
 */

export const runStates = ['RUNNING', 'COMPLETED', 'INCOMPLETE'] as const;
/**
 * `RUNNING`: more is to come. `COMPLETED`: each of its rollouts was graded, or as many as it planned. `INCOMPLETE`: it
 * ended, and rollouts of it were not graded.
 */
export type RunState = (typeof runStates)[number];

export const gateVerdicts = ['pass', 'blocked', 'untested'] as const;
export type GateVerdict = (typeof gateVerdicts)[number];

/** How the sessions of a run stand. */
export type RunProgress = {
  /** How many rollouts it is to have; null: it does not say. */
  planned: number | null;
  /** Whether somebody said that no session is to come. */
  isFinished: boolean;
  /** Whether no session of it was opened or ended for `idleHours`. */
  isIdle: boolean;
  /** Sessions that were graded, those of them that passed, those that may be graded yet, and those that ended without. */
  graded: number;
  passed: number;
  going: number;
  ungraded: number;
};

/** A run that plans more than it has is given up after so long without a session. */
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

/** How a run stands. One that is over goes on when another session is opened in it. */
export const runStateOf = (run: RunProgress): RunState => {
  if (isGoing(run)) return 'RUNNING';
  return isComplete(run) ? 'COMPLETED' : 'INCOMPLETE';
};

/** The part of the graded rollouts that passed; null, and never 0, when none was graded. */
export const passRateOf = ({ graded, passed }: Pick<RunProgress, 'graded' | 'passed'>) =>
  graded === 0 ? null : passed / graded;

/** What the gate asks for: a pass rate from 0 to 1, and how many graded rollouts. */
export type GateRule = { threshold: number; floor: number };

/** A run as the gate looks at it; `examples` are ids of a few sessions that ended without a grade. */
export type GateRun = RunProgress & { id: string; examples: readonly string[] };

export type Judgement = {
  verdict: GateVerdict;
  passRate: number | null;
  gradedRollouts: number;
  /** What stands in the way, one condition each; none for `pass`. */
  reasons: string[];
};

const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

const goingReason = (run: GateRun): string => {
  const done = run.graded + run.ungraded;
  const of = run.planned === null ? '' : ` of ${run.planned}`;
  return `run ${run.id} is still going: ${done}${of} done, ${plural(run.going, 'session')} open`;
};

const incompleteReason = (run: GateRun): string => {
  const lacking = run.ungraded + run.going;
  const named = run.examples.length === 0 ? '' : ` (${run.examples.join(', ')})`;
  const without = lacking === 0 ? '' : `: ${plural(lacking, 'session')} without a grade${named}`;
  const plan =
    run.planned === null ? '' : `, ${run.graded} of ${run.planned} planned rollouts graded`;
  return `run ${run.id} ended without completing${without}${plan}`;
};

/** As many digits as tell the two apart, at least two. */
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
    ...(passRate === null ? ['nothing was graded'] : []),
    ...(isLow
      ? [
          `the pass rate ${formatRate(passRate, threshold)} is below the threshold ${formatRate(threshold, passRate)}`,
        ]
      : []),
    ...(graded < floor
      ? [`${plural(graded, 'graded rollout')}, and the gate asks for at least ${floor}`]
      : []),
  ];
};

/** What the gate says of a build, by all runs of it and of its commit together. */
export const judge = (runs: readonly GateRun[], rule: GateRule): Judgement => {
  const gradedRollouts = runs.reduce((sum, { graded }) => sum + graded, 0);
  const passed = runs.reduce((sum, run) => sum + run.passed, 0);
  const passRate = passRateOf({ graded: gradedRollouts, passed });
  const found = { passRate, gradedRollouts };
  if (runs.length === 0) {
    return { verdict: 'untested', ...found, reasons: ['no run recorded the build'] };
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
