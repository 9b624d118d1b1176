/**
 * Watches the promise that the host's main work runs in. If the control plane no longer needs the host, the host ends
 * without an error.
 */
import type { Log } from '#runtime/log.ts';
import { isStale } from './link.ts';

export type HostLife = {
  /** Resolves when the host has ended. Rejects if it ended with an error. */
  ended: Promise<void>;
  /** Resolves when the host has ended, with or without an error. */
  settled: Promise<void>;
  hasEnded(): boolean;
};

/**
 * Watches the promise that a host runs in. A stale generation is not an error: the session has ended, or another host
 * serves it.
 */
export const watchLife = (life: Promise<void>, log: Log): HostLife => {
  let hasEnded = false;
  const ended = life
    .catch((error: unknown) => {
      if (!isStale(error)) {
        log.error({ err: error }, 'the host failed');
        throw error;
      }
      log.info({ reason: error.message }, 'the control plane no longer needs this host');
    })
    .finally(() => {
      hasEnded = true;
    });
  return { ended, settled: ended.catch(() => undefined), hasEnded: () => hasEnded };
};
