/**
 * States as they are stored: each value in a column, and beside them one text, the clock, which holds what merging
 * needs and reading does not: the rank of each value, and what single events said as metadata.
 */
import type { Rank, State, Value } from './state.ts';
import { beganAt, metadataOf } from './state.ts';

export type Stored = {
  beganAt: number;
  beganIsGiven: boolean;
  /** By field; null where there is none. */
  values: Readonly<Record<string, Value>>;
  tags: readonly string[];
  /** JSON text; null when nobody gave any. */
  metadata: string | null;
  clock: string;
};

type Layer = State['metadata'][number];

/**
 * The rank of most values, those of the others, and of metadata the rank of the only event that gave any, or what
 * each event gave.
 */
type Clock = [common: Rank, others: Record<string, Rank>, metadata: Rank | null | readonly Layer[]];

const layersOf = (metadata: State['metadata']): Clock[2] => {
  const [first] = metadata;
  if (first === undefined) return null;
  return metadata.length === 1 ? first[0] : metadata;
};

const blanks = new WeakMap<readonly string[], Readonly<Record<string, Value>>>();

/** Nothing in each of these fields. A copy of it is made in a fraction of the time that field by field takes. */
const blankOf = (fields: readonly string[]): Readonly<Record<string, Value>> => {
  const known = blanks.get(fields) ?? Object.fromEntries(fields.map((field) => [field, null]));
  blanks.set(fields, known);
  return known;
};

const commonOf = (values: State['values']): Rank => {
  let high: Rank = '';
  for (const field in values) {
    const rank = values[field]?.[0] ?? '';
    if (rank > high) high = rank;
  }
  return high;
};

/** The state for columns of these fields. */
export const toStored = (state: State, fields: readonly string[]): Stored => {
  const common = commonOf(state.values);
  const others: Record<string, Rank> = {};
  const values = { ...blankOf(fields) };
  for (const field of fields) {
    const said = state.values[field];
    if (said === undefined) continue;
    const [rank, value] = said;
    values[field] = value;
    // What was cleared has a rank, too.
    if (rank !== common || value === null) others[field] = rank;
  }
  const metadata = metadataOf(state);
  const clock: Clock = [common, others, layersOf(state.metadata)];
  return {
    beganAt: beganAt(state),
    beganIsGiven: state.at !== null,
    values,
    tags: state.tags,
    metadata: metadata === undefined ? null : JSON.stringify(metadata),
    clock: JSON.stringify(clock),
  };
};

const readLayers = (given: Clock[2], metadata: string | null): State['metadata'] => {
  if (given === null) return [];
  if (typeof given === 'string') return [[given, JSON.parse(metadata ?? 'null')]];
  return given;
};

/** The state that was stored. */
export const fromStored = (stored: Stored): State => {
  const [common, others, layers] = JSON.parse(stored.clock) as Clock;
  const values: Record<string, readonly [Rank, Value]> = {};
  for (const [field, value] of Object.entries(stored.values)) {
    const rank = others[field] ?? (value === null ? undefined : common);
    if (rank !== undefined) values[field] = [rank, value];
  }
  return {
    at: stored.beganIsGiven ? stored.beganAt : null,
    guessedAt: stored.beganAt,
    values,
    tags: stored.tags,
    metadata: readLayers(layers, stored.metadata),
  };
};
