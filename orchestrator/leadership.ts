/**
 * Of several orchestrators of one installation, the one with the lease works and the others wait. The
 * lease is kept by the control plane and renewed well before its end; a holder that cannot renew it
 * stops working when it has run out by its own clock, counted from before the request. The same holder
 * takes its own lease again at once, so a restart does not wait.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Running } from '#runtime/run.ts';
import type { PoolApi } from './pool.ts';

const ttlMs = 6_000;
const renewEveryMs = 2_000;
/** Whoever waits asks so often: a lease that is given up is taken within that time. */
const seekEveryMs = 500;

export type Leadership = {
  /** What asks for the lease. */
  loop: Loop<string>;
  /** Ends the work if it leads; answers whether it did. The lease is kept. */
  halt(): Promise<boolean>;
  /** Gives the lease up, so that another may lead at once. */
  release(): Promise<void>;
};

export type Duties = {
  /** What runs for as long as the lease is held. */
  lead(): Running;
  /** Told once, when another holds the lease at first. */
  onWait(): void;
};

/** Seeks the lease, and works while it is held. */
export const startLeadership = (pool: PoolApi, duties: Duties, log: Log): Leadership => {
  let work: Running | undefined;
  let leaseEndsAt = 0;
  let hasAsked = false;

  const stopWork = async (): Promise<boolean> => {
    const stopping = work;
    work = undefined;
    await stopping?.stop();
    return stopping !== undefined;
  };
  const renew = async (): Promise<boolean> => {
    const askedAt = performance.now();
    const held = await pool.lease(ttlMs);
    if (held) leaseEndsAt = askedAt + ttlMs;
    return held;
  };
  const isFresh = (): boolean => performance.now() < leaseEndsAt - ttlMs + renewEveryMs;
  const tick = async (): Promise<string> => {
    if (work !== undefined && isFresh()) return 'leading';
    try {
      if (await renew()) {
        hasAsked = true;
        work ??= duties.lead();
        return 'leading';
      }
      if (!hasAsked) duties.onWait();
      hasAsked = true;
      if (await stopWork()) log.warn('another orchestrator has taken the lease');
      return 'waiting';
    } catch (error) {
      if (performance.now() >= leaseEndsAt && (await stopWork())) log.warn('the lease ran out');
      throw error;
    }
  };
  const loop = startLoop({ name: 'lease', everyMs: seekEveryMs, tick, log });

  return {
    loop,
    async halt() {
      await loop.stop();
      return stopWork();
    },
    async release() {
      try {
        await pool.lease(0);
      } catch (err) {
        log.info({ err }, 'the lease could not be given up and will run out');
      }
    },
  };
};
