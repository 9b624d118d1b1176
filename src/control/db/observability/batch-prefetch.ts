/**
 * Reads what must be known before a batch is written: deletions of traces, and orphans. One statement finds both,
 * because both are rare.
 */
import { type Queryable, statement } from '../core/database.ts';
import { dashless, keyList } from './trace-keys.ts';

const findStatement = statement(
  'find_trace_surroundings',
  `select key, max(deleted_at) as "deletedAt" from deleted_traces where key = any($1::uuid[]) group by key
   union all
   select key, null from traces where key = any($2::uuid[]) and is_stray`,
);

export type Prefetched = {
  /** Time of the last deletion of each deleted trace, in milliseconds since 1970, by the key of the trace. */
  deletions: ReadonlyMap<string, number>;
  /** Keys of observations that are orphans, each in a trace of its own (orphan-traces.ts). */
  orphans: ReadonlySet<string>;
};

/** Finds deletions of traces by the keys of the traces, and orphans by the keys of the observations. */
export const prefetch = async (
  tx: Queryable,
  traceKeys: readonly string[],
  observationKeys: readonly string[],
): Promise<Prefetched> => {
  type Row = { key: string; deletedAt: Date | null };
  const rows = await tx.query<Row>(findStatement, [keyList(traceKeys), keyList(observationKeys)]);
  const deletions = new Map<string, number>();
  const orphans = new Set<string>();
  for (const { key, deletedAt } of rows) {
    if (deletedAt === null) orphans.add(dashless(key));
    else deletions.set(dashless(key), deletedAt.getTime());
  }
  return { deletions, orphans };
};
