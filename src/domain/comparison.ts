/**
 * Compares two builds of an agent by their sessions: pass rates by task and check, and the sessions whose verdict
 * flipped. Only the verdicts `pass` and `fail` count. Pure functions.
 *
 * The interval of a difference is Newcombe's hybrid score interval at 95 % (method 10 of "Interval estimation for the
 * difference between independent proportions", 1998), which is made of the Wilson intervals of both rates. So it is
 * valid for few sessions, and for rates of 0 and 1, where the usual normal approximation has an interval of width 0.
 */
import type { Verdict } from './grade.ts';

/** Quantile of the normal distribution for a two-sided 95 % interval. */
const z = 1.959963984540054;

/** Number of judged sessions or checks, and number of those that passed. */
export type Tally = { n: number; passed: number };

export type Interval = [low: number, high: number];

/** Returns the Wilson score interval of a pass rate at 95 %. */
export const wilsonInterval = ({ n, passed }: Tally): Interval => {
  const rate = passed / n;
  const center = rate + (z * z) / (2 * n);
  const spread = z * Math.sqrt((rate * (1 - rate)) / n + (z * z) / (4 * n * n));
  const scale = 1 + (z * z) / n;
  return [Math.max(0, (center - spread) / scale), Math.min(1, (center + spread) / scale)];
};

/**
 * Two pass rates, and their difference (candidate minus base) with its interval. A rate is null if its build has no
 * judged session or check; the difference is then null, too.
 */
export type Contrast = {
  base: Tally & { passRate: number | null };
  candidate: Tally & { passRate: number | null };
  difference: number | null;
  interval: Interval | null;
};

const withRate = ({ n, passed }: Tally) => ({ n, passed, passRate: n === 0 ? null : passed / n });

/** Compares two pass rates. */
export const contrast = (base: Tally, candidate: Tally): Contrast => {
  const rates = { base: withRate(base), candidate: withRate(candidate) };
  const [from, to] = [rates.base.passRate, rates.candidate.passRate];
  if (from === null || to === null) return { ...rates, difference: null, interval: null };
  const difference = to - from;
  const [baseLow, baseHigh] = wilsonInterval(base);
  const [low, high] = wilsonInterval(candidate);
  const interval: Interval = [
    difference - Math.hypot(to - low, baseHigh - from),
    difference + Math.hypot(high - to, from - baseLow),
  ];
  return { ...rates, difference, interval };
};

export type Judged = Extract<Verdict, 'pass' | 'fail'>;

/** A judged session. Lists of judged sessions are in the order in which the sessions were opened. */
export type PlayedSession = {
  id: string;
  world: string;
  /** Name of the session's task in its world, id of a stored task, or null without a task. */
  task: string | null;
  /** Digest of the task's content. */
  content: string | null;
  verdict: Judged;
  checks: readonly { name: string; verdict: string }[];
};

/** A pair of sessions of one task with different verdicts, and the checks that differ. */
export type Flip = {
  world: string;
  task: string | null;
  base: { sessionId: string; verdict: Judged };
  candidate: { sessionId: string; verdict: Judged };
  checks: string[];
};

export type TaskContrast = Contrast & {
  world: string;
  task: string | null;
  /** True if the task's content differed between the two builds. */
  contentDiffers: boolean;
  checks: (Contrast & { name: string })[];
};

export type Comparison = {
  /** Contrast over the tasks that both builds have played. */
  total: Contrast;
  tasks: TaskContrast[];
  flips: Flip[];
};

const isJudged = (verdict: string): verdict is Judged => verdict === 'pass' || verdict === 'fail';

const tallyOf = (verdicts: readonly string[]): Tally => {
  const judged = verdicts.filter(isJudged);
  return { n: judged.length, passed: judged.filter((verdict) => verdict === 'pass').length };
};

const add = (one: Tally, other: Tally): Tally => ({
  n: one.n + other.n,
  passed: one.passed + other.passed,
});

const namesOf = (sessions: readonly PlayedSession[]): string[] => [
  ...new Set(sessions.flatMap(({ checks }) => checks.map(({ name }) => name))),
];

const checkTally = (sessions: readonly PlayedSession[], name: string): Tally =>
  tallyOf(
    sessions.flatMap(({ checks }) =>
      checks.filter((check) => check.name === name).map(({ verdict }) => verdict),
    ),
  );

const differingChecks = (one: PlayedSession, other: PlayedSession): string[] =>
  namesOf([one, other]).filter((name) => {
    const [before, after] = [one, other].map((session) => checkTally([session], name));
    return before?.n !== after?.n || before?.passed !== after?.passed;
  });

/** Pairs the sessions of a task in the order in which they were opened. */
const flipsOf = (base: readonly PlayedSession[], candidate: readonly PlayedSession[]): Flip[] =>
  base.flatMap((before, at): Flip[] => {
    const after = candidate[at];
    if (after === undefined || after.verdict === before.verdict) return [];
    const { world, task } = before;
    return [
      {
        ...{ world, task, checks: differingChecks(before, after) },
        base: { sessionId: before.id, verdict: before.verdict },
        candidate: { sessionId: after.id, verdict: after.verdict },
      },
    ];
  });

const keyOf = ({ world, task, content }: PlayedSession): string =>
  JSON.stringify([world, task ?? content]);

const taskContrast = (
  base: readonly PlayedSession[],
  candidate: readonly PlayedSession[],
): TaskContrast | undefined => {
  const [first] = [...base, ...candidate];
  if (first === undefined) return undefined;
  const contentsOf = (sessions: readonly PlayedSession[]) =>
    [...new Set(sessions.map(({ content }) => content))].sort().join();
  const isPlayedByBoth = base.length > 0 && candidate.length > 0;
  const tally = (sessions: readonly PlayedSession[]) =>
    tallyOf(sessions.map(({ verdict }) => verdict));
  return {
    ...{ world: first.world, task: first.task },
    contentDiffers: isPlayedByBoth && contentsOf(base) !== contentsOf(candidate),
    ...contrast(tally(base), tally(candidate)),
    checks: namesOf([...base, ...candidate]).map((name) => ({
      name,
      ...contrast(checkTally(base, name), checkTally(candidate, name)),
    })),
  };
};

/** Compares two builds by their judged sessions. */
export const compareBuilds = (
  base: readonly PlayedSession[],
  candidate: readonly PlayedSession[],
): Comparison => {
  const [before, after] = [Map.groupBy(base, keyOf), Map.groupBy(candidate, keyOf)];
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  const of = (groups: typeof before, key: string) => groups.get(key) ?? [];
  const tasks = keys.flatMap((key) => taskContrast(of(before, key), of(after, key)) ?? []);
  const both = tasks.filter((task) => task.base.n > 0 && task.candidate.n > 0);
  const none: Tally = { n: 0, passed: 0 };
  return {
    total: contrast(
      both.reduce((sum, task) => add(sum, task.base), none),
      both.reduce((sum, task) => add(sum, task.candidate), none),
    ),
    tasks,
    flips: keys.flatMap((key) => flipsOf(of(before, key), of(after, key))),
  };
};
