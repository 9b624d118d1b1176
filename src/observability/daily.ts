/**
 * Daily usage by trace name, environment and model: the rows of `daily_usage`. A trace counts on the day on which it
 * began, each of its observations on the day on which that observation began. Pure functions.
 */
import { dayOf, negated, plus, type Sums, sumNames, type Tally } from './tally.ts';

/** The fields of a trace that the daily usage is computed from. */
export type Counted = {
  /** Milliseconds since 1970. */
  beganAt: number;
  name: string | null;
  environment: string;
  tally: Tally;
};

/** Key of a row in `daily_usage`. The last three members are null in the row that counts events. */
export type DailyKey = {
  day: string;
  traceName: string | null;
  environment: string | null;
  model: string | null;
};

/** Names of the counts that precede the sums of observations. */
export const countNames = ['events', 'traces', 'tracesOfModel'] as const;

/** Names of the elements of `DailyChange.sums`, in their order. */
export const dailyNames = [...countNames, ...sumNames] as const;

export type DailyChange = DailyKey & { sums: Sums };

const nothing: Sums = sumNames.map(() => 0n);

const changeOf = (
  day: string,
  { name, environment }: Counted,
  model: string | null,
  sums: Sums,
): DailyChange => ({ day, traceName: name, environment, model, sums });

/** Returns the changes that one trace adds: one for the trace itself and one for each entry of its tally. */
const contributions = (trace: Counted): DailyChange[] => [
  changeOf(dayOf(trace.beganAt), trace, null, [0n, 1n, 0n, ...nothing]),
  ...[...trace.tally].map(([key, sums]) => {
    const [day, model] = JSON.parse(key) as [string, string | null];
    return changeOf(day, trace, model, [0n, 0n, 1n, ...sums]);
  }),
];

/** Returns the change that adds `count` accepted events to the day of `ms`. */
export const eventsOn = (ms: number, count: number): DailyChange => ({
  day: dayOf(ms),
  traceName: null,
  environment: null,
  model: null,
  sums: [BigInt(count), 0n, 0n, ...nothing],
});

/**
 * Returns the changes that replace the state of a trace before a write by the one after it; undefined stands for no
 * trace.
 */
export const changesBetween = (
  before: Counted | undefined,
  after: Counted | undefined,
): DailyChange[] => [
  ...(before === undefined
    ? []
    : contributions(before).map((one) => ({ ...one, sums: negated(one.sums) }))),
  ...(after === undefined ? [] : contributions(after)),
];

const placeOf = ({ day, traceName, environment, model }: DailyKey): string =>
  JSON.stringify([day, traceName, environment, model]);

/** Merges the changes of each row into one and drops those that sum to zero. */
export const joinChanges = (changes: readonly DailyChange[]): DailyChange[] => {
  const joined = new Map<string, DailyChange>();
  for (const change of changes) {
    const place = placeOf(change);
    const known = joined.get(place);
    joined.set(
      place,
      known === undefined ? change : { ...change, sums: plus(known.sums, change.sums) },
    );
  }
  return [...joined.values()].filter(({ sums }) => sums.some((sum) => sum !== 0n));
};
