/**
 * Which pool serves which waiting sessions. The first in configuration order that suits a session does,
 * unless it has no room or is held and a later one that suits it can do better.
 */
import { type HostWish, suits } from '#domain/pool.ts';
import type { WaitingSessions } from '#wire/pool-api/operations.ts';
import type { PoolSettings } from './plan-terms.ts';
import { offerOf, type PoolConfig } from './pools/pool-config.ts';

/** The pools that suit such a session, in the order in which they are asked. */
export const suitingPools = <Pool extends { config: PoolConfig }>(
  pools: readonly Pool[],
  wish: HostWish,
): Pool[] => pools.filter(({ config }) => suits(offerOf(config), wish));

/**
 * Sessions that each pool is to serve. `roomOf` tells how many a pool can serve as things stand; what
 * no pool has room for waits for the first.
 */
export const shareDemand = (
  waiting: readonly WaitingSessions[],
  pools: readonly PoolSettings[],
  roomOf: (pool: PoolSettings) => number,
): Map<PoolSettings, number> => {
  const shares = new Map<PoolSettings, number>();
  const give = (pool: PoolSettings | undefined, count: number): void => {
    if (pool !== undefined) shares.set(pool, (shares.get(pool) ?? 0) + count);
  };
  for (const wish of waiting) {
    const suiting = suitingPools(pools, wish);
    let left = wish.count;
    for (const pool of suiting) {
      const count = Math.min(left, Math.max(0, roomOf(pool) - (shares.get(pool) ?? 0)));
      give(pool, count);
      left -= count;
    }
    give(suiting[0], left);
  }
  return shares;
};
