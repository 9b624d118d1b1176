/**
 * State of one trace or observation, merged from events that arrive in any order, repeatedly, and in several batches.
 * Each event is converted to a small state. `mergeStates` merges two states and is the only merge rule. It is
 * commutative, associative and idempotent. So order, repetition and splitting of events make no difference, whether
 * states are merged in memory or in the database.
 *
 * Every value has the rank of the event that set it. For each field, the value with the higher rank wins. A field whose
 * value is null was cleared; a field without a value was never set.
 */

/** Rank of a value, built by `rankOf`. Ranks are compared as text; the greater one wins. */
export type Rank = string;

/** Value of a field. JSON (input, output, usage …) is stored as text. */
export type Value = string | number | boolean | null;

export type State = {
  /**
   * Start time in milliseconds since 1970, as events give it; null if no event gave one. The earliest given time wins.
   */
  at: number | null;
  /** Start time in milliseconds since 1970, estimated from the times of the events; used while `at` is null. */
  guessedAt: number;
  /** Values with their ranks, by field. */
  values: Readonly<Record<string, readonly [Rank, Value]>>;
  /** All tags that any event gave, sorted. */
  tags: readonly string[];
  /** Metadata of each event with its rank, from the lowest rank to the highest. */
  metadata: readonly (readonly [Rank, unknown])[];
};

/** First digit of a rank, by the kind of event. It is compared before the time of the event. */
export const standings = { hint: '0', create: '1', update: '2' } as const;
export type Standing = keyof typeof standings;

const latestUs = Number.MAX_SAFE_INTEGER;
const latestPosition = 99_999;

/**
 * Divisor that splits a time into two halves of 8 digits. Two short numbers are formatted in a fraction of the time
 * that one long number takes.
 */
const half = 1e8;
const digits8 = (number: number): string => String(half + number).slice(1);
const digits5 = (number: number): string =>
  String(latestPosition + 1 + Math.min(number, latestPosition)).slice(1);

/**
 * Returns the rank of a value. An update outranks a create, whatever their times. Among events of the same kind, the
 * later event wins; at the same time, the later position in the batch.
 */
export const rankOf = (standing: Standing, timeUs: number, position: number): Rank =>
  ranksOf(timeUs, position)(standing);

/** Returns the function that computes the rank of one event's values from their standing. */
export const ranksOf = (timeUs: number, position: number): ((standing: Standing) => Rank) => {
  const time = Math.min(Math.max(Math.floor(timeUs), 0), latestUs);
  const high = Math.floor(time / half);
  const moment = `${digits8(high)}${digits8(time - high * half)}${digits5(position)}`;
  return (standing) => standings[standing] + moment;
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges one JSON value over another. Objects are merged member by member; any other value is replaced as a whole. */
export const overlay = (under: unknown, over: unknown): unknown => {
  if (!isRecord(under) || !isRecord(over)) return over;
  const both = new Map(Object.entries(under));
  for (const [name, value] of Object.entries(over)) {
    both.set(name, both.has(name) ? overlay(both.get(name), value) : value);
  }
  return Object.fromEntries(both);
};

/**
 * Returns true if the first value outranks the second. Equal ranks come only from different events of the same time;
 * then the value with the greater JSON text wins.
 */
const outranks = (one: readonly [Rank, unknown], other: readonly [Rank, unknown]): boolean => {
  if (one[0] !== other[0]) return one[0] > other[0];
  return JSON.stringify(one[1]) > JSON.stringify(other[1]);
};

const mergeValues = (one: State['values'], other: State['values']): State['values'] => {
  const merged = { ...one };
  for (const field in other) {
    const [value, known] = [other[field], merged[field]];
    if (value === undefined) continue;
    if (known === undefined || outranks(value, known)) merged[field] = value;
  }
  return merged;
};

/** Maximum number of metadata layers of one object; if there are more, the oldest are merged permanently. */
const mostLayers = 32;

const mergeMetadata = (one: State['metadata'], other: State['metadata']): State['metadata'] => {
  if (one.length === 0) return other;
  if (other.length === 0) return one;
  const layers = [...one];
  for (const layer of other) {
    const text = JSON.stringify(layer[1]);
    const isKnown = layers.some(
      ([rank, value]) => rank === layer[0] && JSON.stringify(value) === text,
    );
    if (!isKnown) layers.push(layer);
  }
  layers.sort((a, b) => (outranks(a, b) ? 1 : -1));
  while (layers.length > mostLayers) {
    const [lowest, next, ...rest] = layers as [State['metadata'][0], State['metadata'][0]];
    layers.splice(0, layers.length, [next[0], overlay(lowest[1], next[1])], ...rest);
  }
  return layers;
};

const mergeTags = (one: readonly string[], other: readonly string[]): readonly string[] => {
  if (other.length === 0) return one;
  return [...new Set([...one, ...other])].sort().slice(0, mostTags);
};

/** Maximum number of tags of one object; if there are more, those that sort last are dropped. */
export const mostTags = 1_000;

const earliest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

/** Merges two states of one object. */
export const mergeStates = (one: State, other: State): State => ({
  at: earliest(one.at, other.at),
  guessedAt: Math.min(one.guessedAt, other.guessedAt),
  values: mergeValues(one.values, other.values),
  tags: mergeTags(one.tags, other.tags),
  metadata: mergeMetadata(one.metadata, other.metadata),
});

/** Returns the start time of the object, in milliseconds since 1970. */
export const beganAt = ({ at, guessedAt }: State): number => at ?? guessedAt;

/** Returns all metadata layers merged; undefined if no event gave any. */
export const metadataOf = ({ metadata }: State): unknown =>
  metadata.reduce<unknown>((under, [, over]) => overlay(under, over), undefined);

/** Returns the value of a field; null if it has none. */
export const fieldOf = (state: State, field: string): Value => state.values[field]?.[1] ?? null;
