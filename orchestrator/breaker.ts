/**
 * Keeps a pool that cannot launch from launching on and on. Each failure in a row makes the next
 * launch wait longer; from the fifth on the pool is held, and each hold ends in a single trial. Only a
 * host that got as far as `warm` counts as a success: a container that starts and dies is a failure.
 *
 * Its memory is one process's: a new orchestrator begins with trust and learns again.
 */
import type { PoolHost } from '#wire/pool-api/operations.ts';

const failuresUntilHeld = 5;
const firstPauseMs = 100;
const firstHoldMs = 1_000;
const longestHoldMs = 30_000;

export type BreakerStatus = {
  failuresInARow: number;
  /** Milliseconds until a launch is allowed again; 0 when it is. */
  heldForMs: number;
  /** What the last failure said, while there is one. */
  reason: string | undefined;
};

export type Breaker = {
  /** How many launches may begin now. */
  allowance(): number;
  /** A launch has begun. */
  began(hostId: string): void;
  /** A launch, or the host it made, failed before it was warm. */
  failed(hostId: string, reason: string): void;
  /** Learns from an observation which launches came to something. */
  settle(hosts: readonly PoolHost[]): void;
  status(): BreakerStatus;
};

/** How long to wait after so many failures in a row. */
export const waitAfter = (failures: number): number =>
  failures < failuresUntilHeld
    ? firstPauseMs * 2 ** (failures - 1)
    : Math.min(firstHoldMs * 2 ** (failures - failuresUntilHeld), longestHoldMs);

/** A closed breaker. `now` is a clock in milliseconds that never goes back. */
export const createBreaker = (now: () => number): Breaker => {
  const trials = new Set<string>();
  let failures = 0;
  let heldUntil = 0;
  let reason: string | undefined;
  return {
    allowance() {
      if (now() < heldUntil) return 0;
      if (failures < failuresUntilHeld) return Number.POSITIVE_INFINITY;
      return trials.size > 0 ? 0 : 1;
    },
    began: (hostId) => trials.add(hostId),
    failed(hostId, why) {
      trials.delete(hostId);
      failures += 1;
      heldUntil = now() + waitAfter(failures);
      reason = why;
    },
    settle(hosts) {
      const stateOf = new Map(hosts.map((host) => [host.id, host.state]));
      for (const hostId of trials) {
        const state = stateOf.get(hostId);
        if (state === 'starting') continue;
        trials.delete(hostId);
        if (state === undefined || state === 'draining') continue;
        failures = 0;
        reason = undefined;
      }
    },
    status: () => ({ failuresInARow: failures, heldForMs: Math.max(0, heldUntil - now()), reason }),
  };
};
