/** Traces that were deleted, remembered as long as events are: what was said before that does not bring them back. */
import { type Queryable, statement } from './database.ts';
import { dashless, keyOf } from './trace-keys.ts';

const findStatement = statement(
  'find_deleted_traces',
  `select key, max(deleted_at) as "deletedAt" from deleted_traces where key = any($1::uuid[]) group by key`,
);

/** When each of these traces was last deleted, in milliseconds since 1970, by its id; of most there is nothing. */
export const findDeletions = async (
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<Map<string, number>> => {
  if (ids.length === 0) return new Map();
  const keys = new Map(ids.map((id) => [keyOf(projectId, id), id]));
  type Row = { key: string; deletedAt: Date };
  const rows = await tx.query<Row>(findStatement, [[...keys.keys()]]);
  return new Map(
    rows.map(({ key, deletedAt }) => [keys.get(dashless(key)) ?? '', deletedAt.getTime()]),
  );
};

const noteStatement = statement(
  'note_deleted_traces',
  `insert into deleted_traces (key, week, deleted_at)
   select key, $2, clock_timestamp() from unnest($1::uuid[]) as given(key) order by key
   on conflict (key, week) do update set deleted_at = excluded.deleted_at`,
);

/** Notes that traces are deleted, by their keys. */
export const noteDeletions = async (
  tx: Queryable,
  keys: readonly string[],
  week: number,
): Promise<void> => {
  if (keys.length > 0) await tx.query(noteStatement, [keys, week]);
};
