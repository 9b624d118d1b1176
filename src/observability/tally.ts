/**
 * Sums over the observations of one trace, by day and model. They are stored with the trace, so that sums of the
 * project are updated by difference: a write subtracts the trace's old sums and adds its new ones. The sums are
 * integers, so that deleting everything leaves exactly zero. Has no side effects.
 */

/** Names of the elements of `Sums`, in their order; costs are in trillionths of a dollar (10^-12). */
export const sumNames = [
  'observations',
  'inputUsage',
  'outputUsage',
  'totalUsage',
  'inputCost',
  'outputCost',
  'totalCost',
] as const;

export type Sums = readonly bigint[];

/** A day in UTC such as `2026-03-01`, and a model; the model is null if the observation named none. */
export type TallyKey = readonly [day: string, model: string | null];

/** Sums by the JSON text of their `TallyKey`. */
export type Tally = ReadonlyMap<string, Sums>;

export const emptyTally: Tally = new Map();

const dayMs = 86_400_000;

const daysKnown = new Map<number, string>();

/** Returns the UTC day of a time in milliseconds since 1970. */
export const dayOf = (ms: number): string => {
  const number = Math.floor(ms / dayMs);
  const known = daysKnown.get(number);
  if (known !== undefined) return known;
  const day = new Date(number * dayMs).toISOString().slice(0, -14);
  if (daysKnown.size > 1_000) daysKnown.clear();
  daysKnown.set(number, day);
  return day;
};

/** Maximum usage in tokens and cost in dollars that one observation adds; larger figures are not plausible. */
const mostTokens = 10 ** 12;
const mostDollars = 10 ** 6;
const costsOfDollar = 10 ** 12;

const tokens = (count: number | null): bigint =>
  count === null ? 0n : BigInt(Math.round(Math.min(Math.max(count, 0), mostTokens)));

const cost = (dollars: number | null): bigint =>
  dollars === null
    ? 0n
    : BigInt(Math.round(Math.min(Math.max(dollars, 0), mostDollars) * costsOfDollar));

type Side = { input: number; output: number; total: number };

/**
 * Returns the sums of one observation from its usage in tokens and its cost in dollars; null means that it has no usage
 * or no cost.
 */
export const sumsOf = (usage: Side | null, costs: Side | null): Sums => [
  1n,
  tokens(usage?.input ?? null),
  tokens(usage?.output ?? null),
  tokens(usage?.total ?? null),
  cost(costs?.input ?? null),
  cost(costs?.output ?? null),
  cost(costs?.total ?? null),
];

export const plus = (one: Sums, other: Sums): Sums =>
  one.map((sum, index) => sum + (other[index] ?? 0n));

export const negated = (sums: Sums): Sums => sums.map((sum) => -sum);

/**
 * Maximum number of entries of one trace; observations of further days and models are added to the entry without a
 * model.
 */
const mostEntries = 200;
const mostModelChars = 200;

const keyIn = (tally: Tally, [day, model]: TallyKey): string => {
  const key = JSON.stringify([day, model?.slice(0, mostModelChars) ?? null]);
  return tally.has(key) || tally.size < mostEntries ? key : JSON.stringify([day, null]);
};

/** Sums to add to one entry of a tally. */
export type Addition = { key: TallyKey; sums: Sums };

/**
 * Returns the tally plus the additions. To subtract, pass additions with sums that `negated` returned. Entries that
 * become zero are removed.
 */
export const addAll = (tally: Tally, additions: readonly Addition[]): Tally => {
  const sum = new Map(tally);
  for (const { key, sums } of additions) {
    const place = keyIn(sum, key);
    const known = sum.get(place);
    sum.set(place, known === undefined ? sums : plus(known, sums));
  }
  for (const [key, sums] of sum) if (sums.every((one) => one === 0n)) sum.delete(key);
  return sum;
};

/** Returns the tally as the text that is stored in its column; null if the tally is empty. */
export const writeTally = (tally: Tally): string | null =>
  tally.size === 0
    ? null
    : JSON.stringify([...tally].map(([key, sums]) => [...JSON.parse(key), ...sums.map(String)]));

/** Reads the text that `writeTally` wrote. */
export const readTally = (text: string | null): Tally => {
  if (text === null) return emptyTally;
  const entries = JSON.parse(text) as [string, string | null, ...string[]][];
  return new Map(
    entries.map(([day, model, ...sums]) => [JSON.stringify([day, model]), sums.map(BigInt)]),
  );
};
