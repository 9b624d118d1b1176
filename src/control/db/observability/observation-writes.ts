/**
 * Writes observations in bulk. The transaction has locked their traces (trace-writes.ts), so no other transaction
 * writes to the same traces at the same time. Therefore existing observations are read, merged in the program, and
 * updated if they changed. New observations are inserted by COPY.
 */
import { isPricedSame, type Pricing, readPricing } from '#observability/pricing.ts';
import { mergeStates, type State } from '#observability/state.ts';
import { type Addition, negated } from '#observability/tally.ts';
import { copyText, copyWriter } from '../core/copy-rows.ts';
import { type Queryable, statement, type Transaction } from '../core/database.ts';
import { keysOf } from '../core/parameters.ts';
import { arraysOf, updateStatement } from '../core/row-columns.ts';
import {
  countOf,
  type ObservationWrite,
  observationColumns,
  observationState,
  observationValues,
  observationWrite,
  priceableOf,
} from './observation-rows.ts';
import { isSame, type StateRow } from './stored-states.ts';
import { dashless, keyOf } from './trace-keys.ts';

/** Observation to write, with the state that a batch reported. */
export type ObservationChange = { write: ObservationWrite; state: State };

const copyInText = copyText('observations', observationColumns);
const bytesOf = copyWriter(observationColumns);
const updateObservations = updateStatement(
  'update_observations',
  'observations',
  observationColumns,
  ['trace_key', 'key', 'week'],
);

const readStatement = statement(
  'read_observations',
  `select o.trace_key as "traceKey", o.key, o.pricing, ${observationValues} from observations o
     join ${keysOf('$1::uuid[], $2::uuid[], $3::integer[]')} as given(trace_key, key, week)
          using (trace_key, key, week)`,
);

type KnownRow = StateRow & { traceKey: string; key: string; pricing: string | null };

const placeOf = ({ traceKey, key }: { traceKey: string; key: string }): string =>
  `${dashless(traceKey)}${dashless(key)}`;

const readKnown = async (
  tx: Queryable,
  changes: readonly ObservationChange[],
): Promise<Map<string, KnownRow>> => {
  if (changes.length === 0) return new Map();
  const rows = await tx.query<KnownRow>(readStatement, [
    changes.map(({ write }) => write.traceKey),
    changes.map(({ write }) => write.key),
    changes.map(({ write }) => write.week),
  ]);
  return new Map(rows.map((row) => [placeOf(row), row]));
};

/** Changes to the tallies of traces, by the keys of the traces. */
export type Additions = Map<string, Addition[]>;

const note = (additions: Additions, traceKey: string, added: Addition): void => {
  const known = additions.get(traceKey);
  if (known === undefined) additions.set(traceKey, [added]);
  else known.push(added);
};

/** Returns what observations add to the tallies of their traces, by the keys of the traces. */
export const countsByTrace = (writes: readonly ObservationWrite[]): Additions => {
  const additions: Additions = new Map();
  for (const write of writes) note(additions, write.traceKey, countOf(write));
  return additions;
};

/** Finds the prices of observations by the current models; null for an observation without a price. */
export type PriceAll = (states: readonly State[]) => Promise<(Pricing | null)[]>;

type Merged = { write: ObservationWrite; before: ObservationWrite; state: State };

/**
 * Merges reported states into the stored states, and returns the observations that changed. An observation keeps its
 * price as long as the attributes that determine the price stay the same.
 */
const mergeAll = async (
  changes: readonly ObservationChange[],
  known: ReadonlyMap<string, KnownRow>,
  priceAll: PriceAll,
): Promise<{ before: ObservationWrite; after: ObservationWrite }[]> => {
  const merged = changes.flatMap(({ write, state: reported }): Merged[] => {
    const row = known.get(placeOf(write));
    if (row === undefined) return [];
    const was = observationState(row);
    const state = mergeStates(was, reported);
    const pricing = readPricing(row.pricing);
    const before = observationWrite(write, was, pricing);
    if (isSame(before.stored, observationWrite(write, state, pricing).stored)) return [];
    return [{ write, before, state }];
  });
  const isAnew = ({ write, state }: Merged): boolean => {
    const row = known.get(placeOf(write));
    if (row === undefined) return false;
    const was = priceableOf(observationState(row));
    return !isPricedSame(readPricing(row.pricing), was, priceableOf(state));
  };
  const anew = merged.filter(isAnew);
  const prices = await priceAll(anew.map(({ state }) => state));
  const pricedAnew = new Map(anew.map((one, index) => [one, prices[index] ?? null]));
  return merged.map((one) => {
    const pricing = pricedAnew.has(one) ? (pricedAnew.get(one) ?? null) : one.before.pricing;
    return { before: one.before, after: observationWrite(one.write, one.state, pricing) };
  });
};

const taken = ({ key, sums }: Addition): Addition => ({ key, sums: negated(sums) });

/** Writes rows with several statements of at most `rowsAtOnce` rows, if the transaction sets `rowsAtOnce`. */
const inPieces = async <Row>(
  { rowsAtOnce = Number.POSITIVE_INFINITY }: Transaction,
  rows: readonly Row[],
  write: (some: readonly Row[]) => Promise<unknown>,
): Promise<void> => {
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    await write(rows.slice(start, start + rowsAtOnce));
  }
};

/**
 * Writes the observations of a batch; the batch contains each observation once. Observations of traces in `isNew` are
 * inserted without a lookup. Returns the changes to the tallies of the other traces.
 */
export const writeObservations = async (
  tx: Transaction,
  changes: readonly ObservationChange[],
  isNew: (traceKey: string) => boolean,
  priceAll: PriceAll,
): Promise<Additions> => {
  const inOthers = changes.filter(({ write }) => !isNew(write.traceKey));
  const known = await readKnown(tx, inOthers);
  const additions: Additions = new Map();
  const fresh =
    known.size === 0 ? changes : changes.filter(({ write }) => !known.has(placeOf(write)));
  for (const { write } of fresh) {
    if (!isNew(write.traceKey)) note(additions, write.traceKey, countOf(write));
  }
  const changed = await mergeAll(inOthers, known, priceAll);
  for (const { before, after } of changed) {
    note(additions, after.traceKey, taken(countOf(before)));
    note(additions, after.traceKey, countOf(after));
  }
  await inPieces(tx, fresh, (some) => {
    const bytes = bytesOf(some.map(({ write }) => write));
    return tx.copyIn('copy_observations', copyInText, bytes);
  });
  await inPieces(tx, changed, (some) => {
    const rows = some.map(({ after }) => after);
    return tx.query(updateObservations, arraysOf(observationColumns, rows));
  });
  return additions;
};

const findTraceOfStatement = statement(
  'find_traces_of_observations',
  `select distinct on (key) key, trace_id as "traceId" from observations where key = any($1::uuid[])
    order by key, created_at`,
);

/** Returns the traces of observations, by the ids of the observations. Unknown ids are left out. */
export const findTracesOf = async (
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, string>> => {
  if (ids.length === 0) return new Map();
  const keys = new Map(ids.map((id) => [keyOf(projectId, id), id]));
  const rows = await tx.query<{ key: string; traceId: string }>(findTraceOfStatement, [
    [...keys.keys()],
  ]);
  return new Map(rows.map(({ key, traceId }) => [keys.get(dashless(key)) ?? '', traceId]));
};
