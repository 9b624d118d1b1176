/**
 * What traces come to by day, name, environment and model: what `daily_usage` holds. A trace counts on the day on
 * which it began, its observations on those on which they did. Pure.
 */
import { dayOf, negated, plus, type Sums, sumNames, type Tally } from './tally.ts';

/** A trace as far as it is counted by. */
export type Counted = {
  /** Milliseconds since 1970. */
  beganAt: number;
  name: string | null;
  environment: string;
  tally: Tally;
};

/** What rows are told apart by; all of the last three are null in the row that counts events. */
export type DailyKey = {
  day: string;
  traceName: string | null;
  environment: string | null;
  model: string | null;
};

/** Counted beside the sums of observations. */
export const countNames = ['events', 'traces', 'tracesOfModel'] as const;

/** In the order of `dailyNames`. */
export const dailyNames = [...countNames, ...sumNames] as const;

export type DailyChange = DailyKey & { sums: Sums };

const nothing: Sums = sumNames.map(() => 0n);

const changeOf = (
  day: string,
  { name, environment }: Counted,
  model: string | null,
  sums: Sums,
): DailyChange => ({ day, traceName: name, environment, model, sums });

/** What a trace comes to: each entry of its tally, and itself. */
const contributions = (trace: Counted): DailyChange[] => [
  changeOf(dayOf(trace.beganAt), trace, null, [0n, 1n, 0n, ...nothing]),
  ...[...trace.tally].map(([key, sums]) => {
    const [day, model] = JSON.parse(key) as [string, string | null];
    return changeOf(day, trace, model, [0n, 0n, 1n, ...sums]);
  }),
];

/** So many events were taken on a day. */
export const eventsOn = (ms: number, count: number): DailyChange => ({
  day: dayOf(ms),
  traceName: null,
  environment: null,
  model: null,
  sums: [BigInt(count), 0n, 0n, ...nothing],
});

/** What changes where a trace came to one thing and comes to another; undefined: there is none. */
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

/** Changes of the same row as one; what comes to nothing is left out. */
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
