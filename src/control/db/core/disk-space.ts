/**
 * Remembers whether the last writes found the disk of the database full. A read cannot find this out, because
 * PostgreSQL keeps reading when its disk is full. A probing write would cost a row for every replica.
 */
import { AppError } from '#domain/error.ts';
import { isDiskFull } from './errors.ts';

/** Time for which `check` trusts a failure. On an idle replica no later write would disprove it. */
const believedMs = 10_000;
/** Time for which a failure is reported, even if later writes succeed: metrics are scraped a few times a minute. */
const reportedMs = 120_000;

export type DiskSpace = {
  /** Runs a statement or a commit, and records a failure for lack of disk space. */
  note<Value>(name: string, work: () => Promise<Value>): Promise<Value>;
  /**
   * Throws `unavailable` after a write found the disk full, for at most 10 s, and only until that statement succeeds
   * again.
   */
  check(): void;
  /** Returns true if a write found the disk full within the last two minutes. */
  wasFull(): boolean;
};

/** Creates the record; `now` returns milliseconds. */
export const createDiskSpace = (now: () => number = () => performance.now()): DiskSpace => {
  let lacked: { name: string; until: number } | undefined;
  let reportedUntil = Number.NEGATIVE_INFINITY;
  return {
    async note(name, work) {
      try {
        const value = await work();
        // Other statements can succeed on a full disk: they only read, or fit into an existing page.
        if (lacked?.name === name) lacked = undefined;
        return value;
      } catch (error) {
        if (isDiskFull(error)) {
          lacked = { name, until: now() + believedMs };
          reportedUntil = now() + reportedMs;
        }
        throw error;
      }
    },
    check() {
      if (lacked !== undefined && lacked.until > now()) {
        throw new AppError('unavailable', 'the disk of the database is full');
      }
    },
    wasFull: () => reportedUntil > now(),
  };
};
