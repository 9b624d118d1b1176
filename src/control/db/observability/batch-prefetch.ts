/** What a batch has to know before it is written, and what hardly ever is there: found by one statement. */
import { type Queryable, statement } from '../core/database.ts';
import { dashless, keyList } from './trace-keys.ts';

const findStatement = statement(
  'find_trace_surroundings',
  `select key, max(deleted_at) as "deletedAt" from deleted_traces where key = any($1::uuid[]) group by key
   union all
   select key, null from traces where key = any($2::uuid[]) and is_stray`,
);

export type Prefetched = {
  /** When traces were last deleted, in milliseconds since 1970, by their keys. */
  deletions: ReadonlyMap<string, number>;
  /** Keys of observations that are in traces of their own (orphan-traces.ts). */
  strays: ReadonlySet<string>;
};

/** Finds deletions of traces and strays among observations, both by their keys. */
export const prefetch = async (
  tx: Queryable,
  traceKeys: readonly string[],
  observationKeys: readonly string[],
): Promise<Prefetched> => {
  type Row = { key: string; deletedAt: Date | null };
  const rows = await tx.query<Row>(findStatement, [keyList(traceKeys), keyList(observationKeys)]);
  const deletions = new Map<string, number>();
  const strays = new Set<string>();
  for (const { key, deletedAt } of rows) {
    if (deletedAt === null) strays.add(dashless(key));
    else deletions.set(dashless(key), deletedAt.getTime());
  }
  return { deletions, strays };
};
