/**
 * Keys of deleted traces. They are stored for as long as events are deduplicated, so that an event from before the
 * deletion does not create the trace again.
 */
import { type Queryable, statement } from '../core/database.ts';

const noteStatement = statement(
  'note_deleted_traces',
  `insert into deleted_traces (key, week, deleted_at)
   select key, $2, clock_timestamp() from unnest($1::uuid[]) as given(key) order by key
   on conflict (key, week) do update set deleted_at = excluded.deleted_at`,
);

/** Records the deletion of traces by the keys of the traces. */
export const recordDeletions = async (
  tx: Queryable,
  keys: readonly string[],
  week: number,
): Promise<void> => {
  if (keys.length > 0) await tx.query(noteStatement, [keys, week]);
};
