/**
 * What an operator may change while the orchestrator runs: its pools, and how long sessions may take.
 * The environment says it (config.ts), or a file that is watched (live-settings.ts); whoever goes by it
 * asks anew each time.
 */
import type { PoolConfig } from './pool-config.ts';

/** Limits of every session, in milliseconds. */
export type SessionLimits = {
  /** Without activity, unless it is pinned. */
  idleMs: number;
  maxAgeMs: number;
  /** From its opening until it is ready. */
  provisionMs: number;
};

export type Settings = { pools: readonly PoolConfig[]; sessions: SessionLimits };
