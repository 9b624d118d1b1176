/** The life of a host, which ends well when the control plane has no more use for it. */
import type { Log } from '#runtime/log.ts';
import { isStale } from './link.ts';

export type Lived = {
  /** Rejects with what the host could not go on from. */
  ended: Promise<void>;
  /** Resolves when it has ended, however it did. */
  settled: Promise<void>;
  hasEnded(): boolean;
};

/** Watches a life. Another host serves what a stale one served, or nobody does: nothing is wrong with it. */
export const watchLife = (life: Promise<void>, log: Log): Lived => {
  let hasEnded = false;
  const ended = life
    .catch((error: unknown) => {
      if (!isStale(error)) {
        log.error({ err: error }, 'the host cannot go on');
        throw error;
      }
      log.info({ reason: error.message }, 'this host is of no use any more');
    })
    .finally(() => {
      hasEnded = true;
    });
  return { ended, settled: ended.catch(() => undefined), hasEnded: () => hasEnded };
};
