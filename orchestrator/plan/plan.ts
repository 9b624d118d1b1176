/**
 * Plans the next steps from an observation: no I/O, clock, log or memory. Each action is one step, whose result the
 * next observation shows. A plan therefore never depends on the outcome of an earlier plan, and can be made again
 * after any crash.
 *
 * This file decides the order of the steps. host.ts plans the steps that depend on the condition of one host, and
 * size.ts those that depend on the size of a pool. The tables are in docs/internals/orchestrator.md, and row by row in
 * plan.golden.txt.
 */
import type { PoolHost } from '#wire/pool-api/operations.ts';
import { bookStocks } from './booking.ts';
import { waitsLonger } from './demand.ts';
import { planHost } from './host.ts';
import { boundedNeed, type Need, needOf, planLoads, planRoll, planSurplus } from './size.ts';
import { createStockTakers, type Stock } from './stock.ts';
import type { Action, Deadlines, Observation, PlanSettings } from './terms.ts';

const countOf = (busy: Observation['busy'], work: 'launch' | 'destroy'): number => {
  let count = 0;
  for (const value of busy.values()) if (value === work) count += 1;
  return count;
};

/**
 * Returns how many hosts may begin to start now. Starting hosts take processor time of their machine. A host that has
 * been starting for long, or that its runtime has trouble with, waits or hangs, and does not count. A scheduler shows
 * only later which machine it chose, so hosts without one count against the free capacity of all machines.
 */
const startCapacity = (
  { view, containers }: Observation,
  { startsAtOnce, deadlines }: PlanSettings,
): number => {
  const isStarting = ({ state, stateAgeMs }: PoolHost): boolean =>
    state === 'starting' && stateAgeMs < deadlines.startingMs;
  const starting = new Set(view.hosts.filter(isStarting).map(({ id }) => id));
  const startingOn = new Map<string, number>();
  let unplaced = starting.size;
  for (const { hostId, node, trouble } of containers) {
    const counts = starting.has(hostId);
    if (counts && (trouble !== undefined || node !== undefined)) unplaced -= 1;
    if (node === undefined) continue;
    const one = counts && trouble === undefined ? 1 : 0;
    startingOn.set(node, (startingOn.get(node) ?? 0) + one);
  }
  if (startingOn.size === 0) return startsAtOnce(undefined) - unplaced;
  const free = [...startingOn].map(([node, count]) => Math.max(0, startsAtOnce(node) - count));
  return free.reduce((sum, count) => sum + count, 0) - unplaced;
};

/** Divides `most` among several wants: each gets one in turn, until nothing is left or nothing more is wanted. */
const divide = (most: number, wants: readonly number[]): number[] => {
  const shares = wants.map(() => 0);
  let left = Math.min(
    most,
    wants.reduce((sum, want) => sum + want, 0),
  );
  while (left > 0) {
    for (const [index, want] of wants.entries()) {
      const share = shares[index] ?? 0;
      if (left === 0 || share === want) continue;
      shares[index] = share + 1;
      left -= 1;
    }
  }
  return shares;
};

/** Plans the steps of a pool's warm hosts: each host loads a world, leaves or stays. */
const planWarm = (stock: Stock, waiting: number, deadlines: Deadlines): Action[] => {
  const loads = planLoads(stock, waiting);
  const steps = [...loads, ...planRoll(stock, waiting, loads.length)];
  return [...steps, ...planSurplus(stock, waiting, deadlines, steps)];
};

/** Sessions that a pool has to serve, and the launches that it needs and may begin now. */
type Demand = { stock: Stock; waiting: number; oldest: string | undefined; need: Need };

const demandsOf = (
  stocks: readonly Stock[],
  { view }: Observation,
  { pools }: PlanSettings,
): Demand[] => {
  const shares = bookStocks(stocks, view.waiting, pools);
  return stocks.map((stock) => {
    const { count: waiting, oldest } = shares.get(stock.pool) ?? { count: 0, oldest: undefined };
    return { stock, waiting, oldest, need: boundedNeed(stock, needOf(stock, waiting)) };
  });
};

/**
 * Orders pools for launches, since there may be capacity for only one launch at a time. The pool with the fewest
 * starting hosts comes first; among equals, the pool whose session has waited longest.
 */
const byTurn = (one: Demand, other: Demand): number => {
  const fewer = one.stock.starting - other.stock.starting;
  if (fewer !== 0 || one.oldest === other.oldest) return fewer;
  return waitsLonger(one.oldest, other.oldest) ? -1 : 1;
};

/** Returns how many launches may begin now in all. */
const launchCapacity = (observation: Observation, settings: PlanSettings): number => {
  const launching = countOf(observation.busy, 'launch');
  const capacity = startCapacity(observation, settings);
  return Math.max(0, Math.min(settings.launchesAtOnce - launching, capacity));
};

/**
 * Returns how many launches ahead of demand may begin, within the capacity for launches. While sessions wait for
 * starting hosts, only one further host starts at a time, since each takes processor time that the awaited hosts need.
 * None at all would keep a pool empty under steady demand.
 */
const aheadCapacity = (demands: readonly Demand[], capacity: number): number => {
  const unawaited = demands.map(({ stock, waiting, need }) =>
    Math.max(0, stock.atWork + need.urgent - waiting),
  );
  const isAwaited = demands.some(
    ({ stock, waiting, need }) => waiting > 0 && stock.atWork + need.urgent > 0,
  );
  const ahead = unawaited.reduce((sum, count) => sum + count, 0);
  return isAwaited ? Math.min(capacity, Math.max(0, 1 - ahead)) : capacity;
};

/** Plans the launches of all pools. Launches that sessions wait for come first. */
const planLaunches = (demands: readonly Demand[], most: number): Action[] => {
  const inTurn = demands.toSorted(byTurn);
  const urgent = divide(
    most,
    inTurn.map(({ need }) => need.urgent),
  );
  const ahead = divide(
    aheadCapacity(demands, most - urgent.reduce((sum, count) => sum + count, 0)),
    inTurn.map(({ need }) => need.ahead),
  );
  return inTurn.flatMap(({ stock }, index): Action[] => {
    const extra = ahead[index] ?? 0;
    const count = (urgent[index] ?? 0) + extra;
    const pool = stock.pool.config.pool;
    return count === 0 ? [] : [{ kind: 'launch', pool, count, ahead: extra }];
  });
};

/** Plans the steps that the pools' sizes require. */
const planSizes = (
  stocks: readonly Stock[],
  observation: Observation,
  settings: PlanSettings,
): Action[] => {
  const demands = demandsOf(stocks, observation, settings);
  const launches = planLaunches(demands, launchCapacity(observation, settings));
  const others = demands.flatMap(({ stock, waiting }) =>
    planWarm(stock, waiting, settings.deadlines),
  );
  return [...launches, ...others];
};

/** Returns the next steps, most urgent first. Equal observations give equal plans. */
export const plan = (observation: Observation, settings: PlanSettings): Action[] => {
  const { view, containers, busy, steadyMs } = observation;
  const judging = { steadyMs, deadlines: settings.deadlines };
  const orphans = new Map(containers.map((container) => [container.hostId, container]));
  const poolOf = new Map(settings.pools.map((pool) => [pool.config.pool, pool]));
  const takers = createStockTakers(settings.pools, view.worlds, settings.deadlines);
  const reports: Action[] = [];
  const destroys: Action[] = [];
  for (const host of view.hosts) {
    const container = orphans.get(host.id);
    orphans.delete(host.id);
    const step = busy.has(host.id)
      ? undefined
      : planHost(host, container, poolOf.get(host.pool), judging);
    if (step !== undefined) (step.kind === 'destroy' ? destroys : reports).push(step);
    const leaves = step?.kind === 'drain' || step?.kind === 'report_gone';
    takers.get(host.pool)?.add(host, container, leaves);
  }
  for (const hostId of orphans.keys()) {
    if (!busy.has(hostId)) destroys.push({ kind: 'destroy', hostId, why: 'orphan' });
  }
  const most = Math.max(0, settings.destroysAtOnce - countOf(busy, 'destroy'));
  const stocks = [...takers.values()].map(({ stock }) => stock);
  return [...reports, ...planSizes(stocks, observation, settings), ...destroys.slice(0, most)];
};
