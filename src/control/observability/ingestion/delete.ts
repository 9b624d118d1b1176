/**
 * Deletes traces. Late or repeated events about a deleted trace do not restore it. A first transaction records the
 * deletion while no ingestion of the project is in progress, so that every later write sees the deletion.
 */

import type { Queryable } from '../../db/core/database.ts';
import { addDailyUsage, ownSlots } from '../../db/observability/daily-usage.ts';
import { recordDeletions } from '../../db/observability/deleted-traces.ts';
import { deleteTraces, findTraceKeys } from '../../db/observability/trace-deletes.ts';
import { lockingOf } from './locking.ts';
import type { TraceStore } from './store.ts';

/** Deletes the traces with these ids; returns how many of them existed. */
export const removeTraces = async (
  { db, weeks }: TraceStore,
  projectId: string,
  ids: readonly string[],
): Promise<number> => {
  const week = await weeks.current();
  const record = async (tx: Queryable): Promise<string[]> => {
    const found = await findTraceKeys(tx, projectId, ids);
    await recordDeletions(tx, found, week);
    return found;
  };
  const locking = lockingOf(projectId, { isShared: false, isRetry: false });
  const keys = await db.transaction(record, 'by_key', locking);
  if (keys.length === 0) return 0;
  return db.transaction(async (tx) => {
    const { count, changes } = await deleteTraces(tx, keys, week);
    await addDailyUsage(tx, projectId, changes, ownSlots.deletion);
    return count;
  }, 'by_key');
};
