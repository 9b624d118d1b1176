/**
 * What is known of one trace or observation, put together from events that arrive in any order, many times, and
 * batch by batch. Each event is read as a small state; `mergeStates` joins two of them and is the only rule of
 * merging. The join is commutative, associative and idempotent, so the order, the repetition and the splitting of
 * events make no difference, whether they meet in memory or in the database.
 *
 * Every value has the rank of the event that said it, and the higher rank wins, field by field. A value of null was
 * cleared; a field without a value was never spoken of.
 */

/** Sorts as text: what outranks another comes later. Made by `rankOf`. */
export type Rank = string;

/** JSON (input, output, usage …) is kept as its text. */
export type Value = string | number | boolean | null;

export type State = {
  /** When it began, in milliseconds since 1970, as an event said; null: none has. The earliest counts. */
  at: number | null;
  /** The same, as the times of the events themselves suggest; counts while `at` is null. */
  guessedAt: number;
  /** Values by field. */
  values: Readonly<Record<string, readonly [Rank, Value]>>;
  /** All that were ever given, sorted. */
  tags: readonly string[];
  /** What each event said as metadata, from the lowest rank to the highest. */
  metadata: readonly (readonly [Rank, unknown])[];
};

/** How an event stands to others of its object, before its time is looked at. */
export const standings = { hint: '0', create: '1', update: '2' } as const;
export type Standing = keyof typeof standings;

const latestUs = Number.MAX_SAFE_INTEGER;
const latestPosition = 99_999;

/** A time is written in two halves: numbers of so few digits are written in a fraction of the time. */
const half = 1e8;
const digits8 = (number: number): string => String(half + number).slice(1);
const digits5 = (number: number): string =>
  String(latestPosition + 1 + Math.min(number, latestPosition)).slice(1);

/**
 * The rank of what an event says: an update outranks a create whatever their times, then the later event does, then
 * the one that stands later in its batch.
 */
export const rankOf = (standing: Standing, timeUs: number, position: number): Rank =>
  ranksOf(timeUs, position)(standing);

/** The ranks of what one event says, by its standings. */
export const ranksOf = (timeUs: number, position: number): ((standing: Standing) => Rank) => {
  const time = Math.min(Math.max(Math.floor(timeUs), 0), latestUs);
  const high = Math.floor(time / half);
  const moment = `${digits8(high)}${digits8(time - high * half)}${digits5(position)}`;
  return (standing) => standings[standing] + moment;
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Lays one JSON value over another: objects member by member, everything else as a whole. */
export const overlay = (under: unknown, over: unknown): unknown => {
  if (!isRecord(under) || !isRecord(over)) return over;
  const both = new Map(Object.entries(under));
  for (const [name, value] of Object.entries(over)) {
    both.set(name, both.has(name) ? overlay(both.get(name), value) : value);
  }
  return Object.fromEntries(both);
};

/** Of two values of one rank, which only differing events of one moment have, the greater text counts. */
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

/** Of an object so many events are told apart in their metadata; older ones are laid over each other for good. */
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

/** Of one object; those that sort last have no room. */
export const mostTags = 1_000;

const earliest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

/** What is known from two states of one object. */
export const mergeStates = (one: State, other: State): State => ({
  at: earliest(one.at, other.at),
  guessedAt: Math.min(one.guessedAt, other.guessedAt),
  values: mergeValues(one.values, other.values),
  tags: mergeTags(one.tags, other.tags),
  metadata: mergeMetadata(one.metadata, other.metadata),
});

/** When the object began, in milliseconds since 1970. */
export const beganAt = ({ at, guessedAt }: State): number => at ?? guessedAt;

/** Its metadata as a whole; undefined when nobody gave any. */
export const metadataOf = ({ metadata }: State): unknown =>
  metadata.reduce<unknown>((under, [, over]) => overlay(under, over), undefined);

/** The value of a field; null when it has none. */
export const fieldOf = (state: State, field: string): Value => state.values[field]?.[1] ?? null;
