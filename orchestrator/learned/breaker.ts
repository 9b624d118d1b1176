/**
 * Circuit breaker for a pool whose launches fail. Each failure in a row delays the next launch longer; from the fifth
 * on the pool is held, and each hold ends in a single trial. Only a host that became `warm` counts as a success: a
 * container that starts and dies is a failure. Concurrent launches fail for one reason, and count as one failure.
 *
 * Its state is in memory: a new orchestrator starts with a closed breaker.
 */
import type { PoolHost } from '#wire/pool-api/operations.ts';

const failuresUntilHeld = 5;
const firstPauseMs = 100;
const firstHoldMs = 1_000;
const longestHoldMs = 30_000;

export type BreakerStatus = {
  failuresInARow: number;
  /** Time until a launch is allowed again, in milliseconds; 0 when it is allowed. */
  heldForMs: number;
  /** Reason of the last failure; undefined after a success. */
  reason: string | undefined;
};

export type Breaker = {
  /** Returns how many launches may begin now. */
  allowance(): number;
  /** Returns true if the breaker allows only trials. */
  isHeld(): boolean;
  /** Records that a launch has begun. */
  began(hostId: string): void;
  /**
   * Records that a launch, or its host, failed before it was warm. Ignores a launch that did not begin in this
   * process.
   */
  failed(hostId: string, reason: string): void;
  /** Finds in an observation which launches have succeeded. */
  settle(hosts: readonly PoolHost[]): void;
  status(): BreakerStatus;
};

/** Returns the delay after this many failures in a row, in milliseconds. */
export const waitAfter = (failures: number): number =>
  failures < failuresUntilHeld
    ? firstPauseMs * 2 ** (failures - 1)
    : Math.min(firstHoldMs * 2 ** (failures - failuresUntilHeld), longestHoldMs);

/** Creates a closed breaker. `now` is a monotonic clock in milliseconds. */
export const createBreaker = (now: () => number): Breaker => {
  /** Launches without a result yet, by host, and when they began. */
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
      // A launch of an earlier orchestrator does not show whether launches work now.
      if (beganAt === undefined) return;
      trials.delete(hostId);
      if (beganAt <= lastFailureAt) {
        // Part of the same failure. If a host became warm since, the failure no longer counts.
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
