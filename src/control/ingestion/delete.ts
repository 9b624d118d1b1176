/** Deletes traces; what was said of them before that, and is sent again, does not bring them back. */
import { addDailyUsage, ownSlots } from '../db/daily-usage.ts';
import { deleteTraces } from '../db/trace-deletes.ts';
import type { TraceStore } from './store.ts';

/** Deletes the traces of these ids; returns how many there were. */
export const removeTraces = async (
  { db, weeks }: TraceStore,
  projectId: string,
  ids: readonly string[],
): Promise<number> => {
  const week = await weeks.current();
  return db.transaction(async (tx) => {
    const { count, changes } = await deleteTraces(tx, projectId, ids, week);
    await addDailyUsage(tx, projectId, changes, ownSlots.deletion);
    return count;
  }, 'by_key');
};
