/**
 * Assigns waiting sessions to pools. A session goes to the first suitable pool in configuration order, unless a later
 * suitable pool can serve it at a lower price. The prices, lowest first: the pool serves it with its present hosts,
 * gives up hosts that hold a world, or, while its launches are held, needs a trial launch.
 */
import { type HostWish, suits } from '#domain/pool.ts';
import { offerOf, type PoolConfig } from '#pools/pool-config.ts';
import type { WaitingSessions } from '#wire/pool-api/operations.ts';
import type { PoolSettings } from './terms.ts';

/** Returns the pools that suit such waiting sessions, in configuration order. */
export const suitingPools = <Pool extends { config: PoolConfig }>(
  pools: readonly Pool[],
  wish: HostWish,
): Pool[] => pools.filter(({ config }) => suits(offerOf(config), wish));

/** Sessions that a pool has to serve, and the one that has waited longest, if the control plane reports it. */
export type Share = { count: number; oldest: string | undefined };

/** Returns true if the first id is given and belongs to a session opened before the other; ids sort by creation. */
export const waitsLonger = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && (other === undefined || one < other);

/**
 * Returns the sessions that each pool has to serve. `capacitiesOf` returns how many sessions a pool can serve in all
 * at each price, the lowest first; it has as many entries for every pool. Sessions that no pool can serve wait for the
 * first suitable one.
 */
export const shareDemand = (
  waiting: readonly WaitingSessions[],
  pools: readonly PoolSettings[],
  capacitiesOf: (pool: PoolSettings) => readonly number[],
): Map<PoolSettings, Share> => {
  const capacities = new Map(pools.map((pool) => [pool, capacitiesOf(pool)]));
  const prices = Math.max(0, ...[...capacities.values()].map(({ length }) => length));
  const shares = new Map<PoolSettings, Share>();
  const give = (pool: PoolSettings | undefined, count: number, oldest?: string): void => {
    if (pool === undefined || count === 0) return;
    const share = shares.get(pool) ?? { count: 0, oldest: undefined };
    const first = waitsLonger(oldest, share.oldest) ? oldest : share.oldest;
    shares.set(pool, { count: share.count + count, oldest: first });
  };
  for (const wish of waiting) {
    const suiting = suitingPools(pools, wish);
    let left = wish.count;
    for (let price = 0; price < prices && left > 0; price += 1) {
      for (const pool of suiting) {
        const capacity = capacities.get(pool)?.[price] ?? 0;
        const count = Math.min(left, Math.max(0, capacity - (shares.get(pool)?.count ?? 0)));
        give(pool, count, wish.oldest);
        left -= count;
      }
    }
    give(suiting[0], left, wish.oldest);
  }
  return shares;
};
