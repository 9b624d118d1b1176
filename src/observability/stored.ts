/**
 * Converts states to and from their stored form: each value in a column, plus one text, the clock. The clock
 * holds what only merging needs: the rank of each value and the metadata of single events.
 */
import type { Rank, State, Value } from './state.ts';
import { beganAt, metadataOf } from './state.ts';

export type Stored = {
  beganAt: number;
  beganIsGiven: boolean;
  /** Values by field; null if a field has no value. */
  values: Readonly<Record<string, Value>>;
  tags: readonly string[];
  /** Merged metadata as JSON text; null if no event gave any. */
  metadata: string | null;
  clock: string;
};

type Layer = State['metadata'][number];

/**
 * Rank that most values have; ranks of the other values by field; and for metadata either the rank of the only event
 * that gave any, or all layers.
 */
type Clock = [common: Rank, others: Record<string, Rank>, metadata: Rank | null | readonly Layer[]];

const layersOf = (metadata: State['metadata']): Clock[2] => {
  const [first] = metadata;
  if (first === undefined) return null;
  return metadata.length === 1 ? first[0] : metadata;
};

const blanks = new WeakMap<readonly string[], Readonly<Record<string, Value>>>();

/**
 * Returns an object in which each field is null. Copying this object takes a fraction of the time of setting each
 * field.
 */
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

/** Converts a state to the columns of these fields. */
export const toStored = (state: State, fields: readonly string[]): Stored => {
  const common = commonOf(state.values);
  const others: Record<string, Rank> = {};
  const values = { ...blankOf(fields) };
  for (const field of fields) {
    const ranked = state.values[field];
    if (ranked === undefined) continue;
    const [rank, value] = ranked;
    values[field] = value;
    // A cleared value keeps its rank.
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

/** Restores the state from its stored form. */
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
