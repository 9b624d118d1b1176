/**
 * Daily usage by trace name, environment and model: the rows of `daily_usage`. A trace counts on the day on which it
 * began, and each of its observations on the day on which that observation began. Has no side effects.
 */
import { dayOf, negated, plus, type Sums, sumNames, type Tally } from './tally.ts';

/** The fields of a trace that the daily usage is computed from. */
export type Counted = {
  /** Start of the trace, in milliseconds since 1970. */
  beganAt: number;
  name: string | null;
  environment: string;
  tally: Tally;
};

/** Key of a row in `daily_usage`. Its last three members are null in the row that counts events. */
export type DailyKey = {
  day: string;
  traceName: string | null;
  environment: string | null;
  model: string | null;
};

/** Names of the counts, which come before the sums of observations. */
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

/** Returns the change that adds `count` accepted events to the day that contains the time `ms`. */
export const eventsOn = (ms: number, count: number): DailyChange => ({
  day: dayOf(ms),
  traceName: null,
  environment: null,
  model: null,
  sums: [BigInt(count), 0n, 0n, ...nothing],
});

/**
 * Returns the changes to daily usage that result from a write to a trace: they subtract its state before and add its
 * state after. A state is undefined if the trace does not exist.
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

/** Merges all changes to the same row into one, and drops those that sum to zero. */
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
