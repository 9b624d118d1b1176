/**
 * Elects the leader among the orchestrators of one installation: the holder of the lease works, the others wait. The
 * control plane keeps the lease, and the holder renews it well before it expires. A holder that cannot renew the lease
 * stops working when the lease has expired by the holder's own clock, counted from before the last successful request.
 * A holder whose message is refused renews at once.
 *
 * A process that starts takes the lease over from a process of the same name, so a restart does not wait. Once it has
 * led, it waits like any other process. If two processes have one name, the younger one therefore leads, and they do
 * not alternate.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Running } from '#runtime/run.ts';
import type { HeldLease, LeaseApi } from './lease.ts';

const ttlMs = 6_000;
const renewEveryMs = 2_000;
/**
 * Interval at which a waiting orchestrator asks for the lease, in milliseconds; a released lease is taken within that
 * time.
 */
const seekEveryMs = 500;

export type Leadership = {
  /** Loop that acquires and renews the lease. */
  loop: Loop<string>;
  /** Stops the work if this process leads. Returns the lease, which stays held, or undefined if it did not lead. */
  halt(): Promise<HeldLease | undefined>;
  /** Releases the lease, so that another orchestrator may lead at once. */
  release(lease: HeldLease): Promise<void>;
};

export type Duties = {
  /**
   * Starts the work that runs while the lease is held. The work calls `doubt` when the control plane refuses a message
   * because the lease may have another holder.
   */
  lead(lease: HeldLease, doubt: () => void): Running;
  /** Called once, if another orchestrator holds the lease at the first attempt. */
  onWait(): void;
};

/** Starts to seek the lease, and runs the work while it is held. */
export const startLeadership = (api: LeaseApi, duties: Duties, log: Log): Leadership => {
  let term: { lease: HeldLease; work: Running } | undefined;
  let leaseEndsAt = Number.NEGATIVE_INFINITY;
  let hasAsked = false;
  let hasLed = false;

  const endTerm = async (): Promise<HeldLease | undefined> => {
    const ended = term;
    term = undefined;
    await ended?.work.stop();
    return ended?.lease;
  };
  /** Acquires or renews the lease; returns true if this process leads. */
  const seek = async (): Promise<boolean> => {
    const askedAt = performance.now();
    if (term !== undefined) {
      const isHeld = await api.renew(term.lease, ttlMs);
      if (isHeld) leaseEndsAt = askedAt + ttlMs;
      return isHeld;
    }
    const lease = await api.take(ttlMs, !hasLed);
    if (lease === undefined) return false;
    leaseEndsAt = askedAt + ttlMs;
    hasLed = true;
    term = { lease, work: duties.lead(lease, () => doubt(lease)) };
    return true;
  };
  const isFresh = (): boolean => performance.now() < leaseEndsAt - ttlMs + renewEveryMs;
  const tick = async (): Promise<string> => {
    if (term !== undefined && isFresh()) return 'leading';
    try {
      const leads = await seek();
      if (!leads && !hasAsked) duties.onWait();
      hasAsked = true;
      if (leads) return 'leading';
      if ((await endTerm()) !== undefined) log.warn('another orchestrator has taken the lease');
      return 'waiting';
    } catch (error) {
      const isOver = performance.now() >= leaseEndsAt;
      if (isOver && (await endTerm()) !== undefined)
        log.warn('the lease expired before it was renewed');
      throw error;
    }
  };
  const loop = startLoop({ name: 'lease', everyMs: seekEveryMs, tick, log });
  const doubt = (lease: HeldLease): void => {
    if (term?.lease !== lease) return;
    leaseEndsAt = Number.NEGATIVE_INFINITY;
    loop.nudge();
  };

  return {
    loop,
    async halt() {
      await loop.stop();
      return endTerm();
    },
    async release(lease) {
      try {
        await api.giveUp(lease);
      } catch (err) {
        log.info({ err }, 'the lease could not be released; it will expire');
      }
    },
  };
};
