/**
 * Orphans: observations whose trace no event has named yet. Each orphan is stored in a trace of its own that contains
 * nothing else. Once an event names the real trace, the orphan is removed from its own trace, so that it can be written
 * to the real one.
 */
import type { Counted } from '#observability/daily.ts';
import { type Pricing, readPricing } from '#observability/pricing.ts';
import type { State } from '#observability/state.ts';
import { type Queryable, statement } from '../core/database.ts';
import { observationState, observationValues } from './observation-rows.ts';
import type { StateRow } from './stored-states.ts';
import { type CountedRow, countedColumns, countedRow } from './trace-rows.ts';

const holdStatement = statement(
  'hold_stray_traces',
  'select from traces where key = any($1::uuid[]) and is_stray order by key for update',
);

const tracesStatement = statement(
  'delete_stray_traces',
  `delete from traces where key = any($1::uuid[]) and is_stray returning key, ${countedColumns}`,
);

const observationsStatement = statement(
  'take_stray_observations',
  `delete from observations where trace_key = any($1::uuid[]) and key = trace_key
   returning id, pricing, ${observationValues}`,
);

/** Orphan that was removed from its own trace, with its price; null if it has no price. */
export type Orphan = { state: State; pricing: Pricing | null };
/** Removed orphans by their ids, and the contributions of their own traces to the daily usage. */
export type Orphans = { states: Map<string, Orphan>; gone: Counted[] };

/** Removes the orphans with these keys from their own traces. */
export const removeOrphans = async (tx: Queryable, wanted: readonly string[]): Promise<Orphans> => {
  if (wanted.length === 0) return { states: new Map(), gone: [] };
  const asked = [wanted.toSorted()];
  const locked = await tx.query(holdStatement, asked);
  if (locked.length === 0) return { states: new Map(), gone: [] };
  const traces = await tx.query<CountedRow & { key: string }>(tracesStatement, asked);
  const keys = traces.map(({ key }) => key);
  const rows = await tx.query<StateRow & { id: string; pricing: string | null }>(
    observationsStatement,
    [keys],
  );
  const states = new Map(
    rows.map((row) => [
      row.id,
      { state: observationState(row), pricing: readPricing(row.pricing) },
    ]),
  );
  return { states, gone: traces.map(countedRow) };
};
