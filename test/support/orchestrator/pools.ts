/** A pool for tests: hosts with default properties, none kept warm unless a test sets it. */
import type { PoolConfig } from '#pools/pool-config.ts';

export const testPool = (changes: Partial<PoolConfig> = {}): PoolConfig => ({
  pool: 'default',
  tier: null,
  isolation: 'process',
  size: { name: 'standard', memoryMb: 512, cpus: 1, pids: 128 },
  minimum: 0,
  maximum: 64,
  target: 0,
  surge: 1,
  refill: { perSecond: 50, burst: 100 },
  maxAgeMs: null,
  maxAgeJitter: 0,
  startMs: 60_000,
  worlds: [],
  ...changes,
});
