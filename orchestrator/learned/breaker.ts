/**
 * Keeps a pool that cannot launch from launching on and on. Each failure in a row makes the next
 * launch wait longer; from the fifth on the pool is held, and each hold ends in a single trial. Only a
 * host that got as far as `warm` counts as a success: a container that starts and dies is a failure.
 * Launches that were under way together fail for one reason, and count as one failure.
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
  /** Whether it lets no more than trials through. */
  isHeld(): boolean;
  /** A launch has begun. */
  began(hostId: string): void;
  /** A launch, or the host it made, failed before it was warm. One that did not begin here says nothing. */
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
  /** Launches that have come to nothing yet, and when they began. */
  const trials = new Map<string, number>();
  let failures = 0;
  let lastFailureAt = Number.NEGATIVE_INFINITY;
  let heldUntil = 0;
  let reason: string | undefined;
  return {
    allowance() {
      if (now() < heldUntil) return 0;
      if (failures < failuresUntilHeld) return Number.POSITIVE_INFINITY;
      return trials.size > 0 ? 0 : 1;
    },
    isHeld: () => failures >= failuresUntilHeld,
    began: (hostId) => trials.set(hostId, now()),
    failed(hostId, why) {
      const beganAt = trials.get(hostId);
      // A predecessor's: it ended with that one, which says nothing of launches now.
      if (beganAt === undefined) return;
      trials.delete(hostId);
      if (beganAt <= lastFailureAt) {
        // One of those that failed together; a host that got warm since has settled the matter.
        if (failures > 0) reason = why;
        return;
      }
      reason = why;
      failures += 1;
      lastFailureAt = now();
      heldUntil = now() + waitAfter(failures);
    },
    settle(hosts) {
      if (trials.size === 0) return;
      const stateOf = new Map(hosts.map((host) => [host.id, host.state]));
      for (const hostId of trials.keys()) {
        const state = stateOf.get(hostId);
        if (state === 'starting') continue;
        trials.delete(hostId);
        if (state === undefined || state === 'draining') continue;
        failures = 0;
        heldUntil = 0;
        reason = undefined;
      }
    },
    status: () => ({ failuresInARow: failures, heldForMs: Math.max(0, heldUntil - now()), reason }),
  };
};
