/** Events that were taken, remembered by their ids, so that one that is sent again does nothing. */
import { type Queryable, statement } from './database.ts';
import { dashless, keyOf } from './trace-keys.ts';

const rememberStatement = statement(
  'remember_events',
  `insert into ingested_events (key, week)
   select key, $2 from unnest($1::uuid[]) as given(key)
    where not exists (select from ingested_events known where known.key = given.key and known.week = $2 - 1)
    order by key
   on conflict do nothing returning key`,
);

/** Remembers events by their ids; those that were not known are returned. */
export const rememberEvents = async (
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
  week: number,
): Promise<Set<string>> => {
  const keys = new Map(ids.map((id) => [keyOf(projectId, id), id]));
  const rows = await tx.query<{ key: string }>(rememberStatement, [[...keys.keys()], week]);
  return new Set(rows.map(({ key }) => keys.get(dashless(key)) ?? ''));
};
