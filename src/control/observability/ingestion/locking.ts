/**
 * What writes of what agents did wait for, and how long. Those of a project share a lock, which a few have alone. Rows
 * are waited for more briefly than that lock, as whoever waits for a row keeps it.
 */
import type { Locking } from '../../db/core/database.ts';

/** For the lock of the project, and for a row that others hold, in milliseconds. */
const usual = { lock: 2_500, rows: 1_500 };
/** The rows that somebody waits for who has the lock alone. */
const rowsAloneMs = 300;
/** Where others of the project wait behind it. */
const again = { lock: 500, rows: 100 };

/** Of one transaction that writes what requests of a project say, or deletes. */
export const lockingOf = (
  projectId: string,
  { isShared, isAgain }: { isShared: boolean; isAgain: boolean },
): Locking => {
  const waits = isAgain ? again : usual;
  return {
    rowsMs: isShared ? waits.rows : Math.min(waits.rows, rowsAloneMs),
    lock: { name: `ingestion ${projectId}`, isShared, waitMs: waits.lock },
  };
};
