/**
 * Books each waiting session on a pool. Three users need the same booking: the planner, which launches hosts for the
 * sessions; the pool's target; and the traces that a launch belongs to. If they differed, a full or held pool would
 * grow in place of the one that serves.
 */
import type { WaitingSessions } from '#wire/pool-api/operations.ts';
import { type Share, shareDemand, suitingPools } from './demand.ts';
import { capacitiesOf } from './size.ts';
import { createStockTakers, type Stock } from './stock.ts';
import type { Observation, PoolSettings } from './terms.ts';

/** Returns the sessions booked on each pool, from the counted hosts of the pools. */
export const bookStocks = (
  stocks: readonly Stock[],
  waiting: readonly WaitingSessions[],
  pools: readonly PoolSettings[],
): Map<PoolSettings, Share> => {
  const stockOf = new Map(stocks.map((stock) => [stock.pool, stock]));
  return shareDemand(waiting, pools, (pool) => {
    const stock = stockOf.get(pool);
    return stock === undefined ? [] : capacitiesOf(stock);
  });
};

/**
 * Returns true if some session suits several pools. Counting the hosts of pools is expensive with many hosts, and
 * needless without a choice.
 */
const hasChoice = (waiting: readonly WaitingSessions[], pools: readonly PoolSettings[]): boolean =>
  waiting.some((wish) => suitingPools(pools, wish).length > 1);

/** Returns the sessions booked on each pool, computed from an observation. */
export const bookWaiting = (
  { view, containers }: Pick<Observation, 'view' | 'containers'>,
  pools: readonly PoolSettings[],
): Map<PoolSettings, Share> => {
  if (!hasChoice(view.waiting, pools)) return bookStocks([], view.waiting, pools);
  // Capacities do not depend on whether a session is loading or a host is starting, so these limits are 0.
  const takers = createStockTakers(pools, view.worlds, { loadingMs: 0, startingMs: 0 });
  const containerOf = new Map(containers.map((container) => [container.hostId, container]));
  for (const host of view.hosts) {
    takers.get(host.pool)?.add(host, containerOf.get(host.id), false);
  }
  const stocks = [...takers.values()].map(({ stock }) => stock);
  return bookStocks(stocks, view.waiting, pools);
};
