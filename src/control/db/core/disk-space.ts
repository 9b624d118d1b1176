/**
 * Remembers whether the last writes failed because the disk of the database is full. A read cannot find this out,
 * because PostgreSQL can still read when its disk is full. A write for testing would cost a row for every replica.
 */
import { AppError } from '#domain/error.ts';
import { isDiskFull } from './errors.ts';

/**
 * Time for which `check` relies on a failure, in milliseconds. It is limited because an idle replica makes no later
 * write that could succeed.
 */
const believedMs = 10_000;
/**
 * Time for which a failure is reported, even if later writes succeed, in milliseconds. It is long because metrics are
 * scraped only a few times a minute.
 */
const reportedMs = 120_000;

export type DiskSpace = {
  /** Runs a statement or a commit, and remembers a failure because of a full disk. */
  note<Value>(name: string, work: () => Promise<Value>): Promise<Value>;
  /**
   * Throws `unavailable` if a write found the disk full within the last 10 s, and the same statement has not succeeded
   * since.
   */
  check(): void;
  /** Returns true if a write found the disk full within the last two minutes. */
  wasFull(): boolean;
};

/** Creates the record of full disks; `now` returns milliseconds. */
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
