/** Traces that were deleted, remembered as long as events are: what was said before that does not bring them back. */
import { type Queryable, statement } from '../core/database.ts';

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
