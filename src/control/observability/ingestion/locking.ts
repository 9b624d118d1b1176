/**
 * Lock and wait limits of telemetry writes. Writes of a project share the project's lock; deletions and some writes
 * take it exclusively. The maximum wait for a row is shorter than for that lock, because a transaction that waits for a
 * row holds the lock.
 */
import type { Locking } from '../../db/core/database.ts';

/** Maximum wait for the project's lock, and for a row that another transaction has locked, in milliseconds. */
const usual = { lock: 2_500, rows: 1_500 };
/** Maximum wait for a locked row while this writer holds the project's lock exclusively, in milliseconds. */
const rowsAloneMs = 300;
/**
 * Maximum waits of a retry, in milliseconds. They are short because the rest of the failed batch waits for the retry.
 */
const retry = { lock: 500, rows: 100 };

/** Returns the lock and the wait limits of one transaction that writes or deletes telemetry of a project. */
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
