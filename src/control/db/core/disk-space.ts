/**
 * Whether the disk of the database has room, as the last writes found it. PostgreSQL goes on reading when its
 * disk is full, so a look at its tables says nothing; and writing to find out would cost all replicas a row.
 */
import { AppError } from '#domain/error.ts';
import { isDiskFull } from './errors.ts';

/** A failure is believed for so long: where a replica is left alone, no write comes to prove it wrong. */
const believedMs = 10_000;
/** How long a failure is reported, even if later writes worked: metrics are read a few times a minute. */
const toldMs = 120_000;

export type DiskSpace = {
  /** Runs a statement, or the end of a transaction, and remembers when there was no room for it. */
  note<Value>(name: string, work: () => Promise<Value>): Promise<Value>;
  /** Throws `unavailable` while a write found no room, and neither it went through since nor time has passed. */
  check(): void;
  /** Whether a write found no room within the last two minutes. */
  wasFull(): boolean;
};

/** Makes it; the clock is given in milliseconds. */
export const createDiskSpace = (now: () => number = () => performance.now()): DiskSpace => {
  let lacked: { name: string; until: number } | undefined;
  let tellUntil = Number.NEGATIVE_INFINITY;
  return {
    async note(name, work) {
      try {
        const value = await work();
        // Others may go through on a full disk: they read, or find room in a page.
        if (lacked?.name === name) lacked = undefined;
        return value;
      } catch (error) {
        if (isDiskFull(error)) {
          lacked = { name, until: now() + believedMs };
          tellUntil = now() + toldMs;
        }
        throw error;
      }
    },
    check() {
      if (lacked !== undefined && lacked.until > now()) {
        throw new AppError('unavailable', 'the disk of the database is full');
      }
    },
    wasFull: () => tellUntil > now(),
  };
};
