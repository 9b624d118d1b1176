/**
 * Of several orchestrators of one installation, the one with the lease works and the others wait. The
 * lease is kept by the control plane and renewed well before its end; a holder that cannot renew it
 * stops working when it has run out by its own clock, counted from before the request, and one whose
 * message is refused asks at once.
 *
 * A process takes over from its namesake when it starts, so a restart does not wait; once it has led, it
 * waits like any other. So of two with one name the younger leads, and they do not take turns.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Running } from '#runtime/run.ts';
import type { HeldLease, LeaseApi } from './lease.ts';

const ttlMs = 6_000;
const renewEveryMs = 2_000;
/** Whoever waits asks so often: a lease that is given up is taken within that time. */
const seekEveryMs = 500;

export type Leadership = {
  /** What asks for the lease. */
  loop: Loop<string>;
  /** Ends the work if it leads; answers the lease, which is kept, or undefined when it did not lead. */
  halt(): Promise<HeldLease | undefined>;
  /** Gives the lease up, so that another may lead at once. */
  release(lease: HeldLease): Promise<void>;
};

export type Duties = {
  /** What runs for as long as a lease is held; it calls `doubt` when somebody denies that it is. */
  lead(lease: HeldLease, doubt: () => void): Running;
  /** Told once, when another holds the lease at first. */
  onWait(): void;
};

/** Seeks the lease, and works while it is held. */
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
  /** Whether this process leads, after it has asked for that. */
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
      if (isOver && (await endTerm()) !== undefined) log.warn('the lease ran out');
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
        log.info({ err }, 'the lease could not be given up and will run out');
      }
    },
  };
};
