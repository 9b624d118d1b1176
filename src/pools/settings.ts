/**
 * Settings that an operator may change while the orchestrator runs: its pools, and the time limits of sessions. They
 * come from the environment (config.ts) or from a watched file (live-settings.ts). Code that uses them must read them
 * anew each time.
 */
import type { PoolConfig } from './pool-config.ts';

/** Limits of every session, in milliseconds. */
export type SessionLimits = {
  /** Longest time without activity, unless the session is pinned. */
  idleMs: number;
  maxAgeMs: number;
  /** Longest time from its opening until it is ready. */
  provisionMs: number;
};

export type Settings = { pools: readonly PoolConfig[]; sessions: SessionLimits };
