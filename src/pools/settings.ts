/**
 * Settings that an operator may change while the orchestrator runs: its pools, and the time limits of sessions. They
 * come from the environment (config.ts) or from a watched file (live-settings.ts). Code must not store them, but read
 * them anew at each use.
 */
import type { PoolConfig } from './pool-config.ts';

/** Limits of every session, in milliseconds. */
export type SessionLimits = {
  /** Maximum time without activity, unless the session is pinned. */
  idleMs: number;
  maxAgeMs: number;
  /** Maximum time from the opening of a session until it is ready. */
  provisionMs: number;
};

export type Settings = { pools: readonly PoolConfig[]; sessions: SessionLimits };
