/**
 * Lock and wait limits of telemetry writes. Writes of a project share a lock; deletions and some writes take it
 * exclusively. The wait for a row is shorter than for that lock, because a transaction that waits for a row holds the
 * lock.
 */
import type { Locking } from '../../db/core/database.ts';

/** Wait for the project's lock, and for a row that another transaction holds, in milliseconds. */
const usual = { lock: 2_500, rows: 1_500 };
/** Wait for a row while holding the lock exclusively, in milliseconds. */
const rowsAloneMs = 300;
/** Waits of a retry, in milliseconds: the rest of its batch waits behind it. */
const retry = { lock: 500, rows: 100 };

/** Returns the locking of one transaction that writes reports of a project, or deletes. */
export const lockingOf = (
  projectId: string,
  { isShared, isRetry }: { isShared: boolean; isRetry: boolean },
): Locking => {
  const waits = isRetry ? retry : usual;
  return {
    rowsMs: isShared ? waits.rows : Math.min(waits.rows, rowsAloneMs),
    lock: { name: `ingestion ${projectId}`, isShared, waitMs: waits.lock },
  };
};
