/**
 * Which pool each session that waits is booked on: what the planner serves them by, what a pool's target
 * learns from, and whose launches are a part of their traces. All three have to be the same, or a pool that
 * is full or held would grow in place of the one that serves.
 */
import type { WaitingSessions } from '#wire/pool-api/operations.ts';
import { type Share, shareDemand, suitingPools } from './demand.ts';
import { capacitiesOf } from './size.ts';
import { createStockTakers, type Stock } from './stock.ts';
import type { Observation, PoolSettings } from './terms.ts';

/** What each pool is booked for, by its stock. */
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

/** Stock is dear to take where there are many hosts; it is not needed where there is no choice. */
const hasChoice = (waiting: readonly WaitingSessions[], pools: readonly PoolSettings[]): boolean =>
  waiting.some((wish) => suitingPools(pools, wish).length > 1);

/** The same, from what was observed. */
export const bookWaiting = (
  { view, containers }: Pick<Observation, 'view' | 'containers'>,
  pools: readonly PoolSettings[],
): Map<PoolSettings, Share> => {
  if (!hasChoice(view.waiting, pools)) return bookStocks([], view.waiting, pools);
  // Capacities do not ask whether a session is loading, or a host at work.
  const takers = createStockTakers(pools, view.worlds, { loadingMs: 0, startingMs: 0 });
  const containerOf = new Map(containers.map((container) => [container.hostId, container]));
  for (const host of view.hosts) {
    takers.get(host.pool)?.add(host, containerOf.get(host.id), false);
  }
  const stocks = [...takers.values()].map(({ stock }) => stock);
  return bookStocks(stocks, view.waiting, pools);
};
