/** Deletes traces, with their observations and scores. */
import { changesBetween, type DailyChange } from '#observability/daily.ts';
import { type Queryable, statement } from '../core/database.ts';
import { recordDeletions } from './deleted-traces.ts';
import { keyOf } from './trace-keys.ts';
import { type CountedRow, countedColumns, countedRow } from './trace-rows.ts';

const findStatement = statement(
  'find_trace_keys',
  'select key from traces where key = any($1::uuid[])',
);

const holdStatement = statement(
  'hold_traces',
  'select key from traces where key = any($1::uuid[]) order by key for update',
);

const deleteStatement = statement(
  'delete_traces',
  `with gone as (
     delete from traces where key = any($1::uuid[]) returning key, week, ${countedColumns}
   ), observations_gone as (
     delete from observations o using gone g where o.trace_key = g.key and o.week = g.week
   ), scores_gone as (
     delete from scores s using gone g where s.trace_key = g.key
   )
   select key, "beganAt", name, environment, tally from gone`,
);

/** Returns the keys of those traces that exist, of the given traces of a project. */
export const findTraceKeys = async (
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<string[]> => {
  const asked = ids.map((id) => keyOf(projectId, id));
  const found = await tx.query<{ key: string }>(findStatement, [asked]);
  return found.map(({ key }) => key);
};

/**
 * Deletes the traces with these keys, if they exist, and records the deletions. Returns the number of deleted traces,
 * and the changes to the daily usage. The caller must run it in a transaction.
 */
export const deleteTraces = async (
  tx: Queryable,
  asked: readonly string[],
  week: number,
): Promise<{ count: number; changes: DailyChange[] }> => {
  // Locks them in the order of their keys, as writers do, so that no deadlock is possible.
  const locked = await tx.query<{ key: string }>(holdStatement, [asked]);
  const keys = locked.map(({ key }) => key);
  if (keys.length === 0) return { count: 0, changes: [] };
  const gone = await tx.query<CountedRow>(deleteStatement, [keys]);
  await recordDeletions(tx, keys, week);
  return {
    count: gone.length,
    changes: gone.flatMap((row) => changesBetween(countedRow(row), undefined)),
  };
};
