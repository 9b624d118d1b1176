/**
 * What to do next, decided from what was observed: no I/O, no clock, no log, no memory. Each action is
 * one step; what it leads to is seen by the next observation, so a plan never depends on how the last
 * one went and can be made again after any crash.
 *
 * Here is the order of it. What one host's condition asks for is in plan-host.ts, what a pool's size
 * asks for in plan-size.ts; the tables are in docs/orchestrator.md, and in plan.golden.txt row by row.
 */
import { shareDemand } from './plan-demand.ts';
import { planHost } from './plan-host.ts';
import {
  boundedNeed,
  capacitiesOf,
  needOf,
  planLoads,
  planRoll,
  planSurplus,
} from './plan-size.ts';
import { createStockTakers, type Stock } from './plan-stock.ts';
import type { Action, Deadlines, Observation, PlanSettings } from './plan-terms.ts';

const countOf = (busy: Observation['busy'], work: 'launch' | 'destroy'): number => {
  let count = 0;
  for (const value of busy.values()) if (value === work) count += 1;
  return count;
};

/** Hosts that take processor time to start now; one that has been at it for long waits or hangs. */
const countStarting = ({ view }: Observation, { startingMs }: Deadlines): number => {
  let count = 0;
  for (const { state, stateAgeMs } of view.hosts) {
    if (state === 'starting' && stateAgeMs < startingMs) count += 1;
  }
  return count;
};

/** Divides so many among several who want some: one each in turn, until none is left or wanted. */
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

/** What becomes of a pool's warm hosts: each loads, leaves or stays. */
const planWarm = (stock: Stock, waiting: number, deadlines: Deadlines): Action[] => {
  const loads = planLoads(stock, waiting);
  const steps = [...loads, ...planRoll(stock, waiting, loads.length)];
  return [...steps, ...planSurplus(stock, waiting, deadlines, steps)];
};

/** What the pools' sizes ask for. Launches that sessions wait for come before all others. */
const planSizes = (stocks: readonly Stock[], observation: Observation, settings: PlanSettings) => {
  const stockOf = new Map(stocks.map((stock) => [stock.pool, stock]));
  const shares = shareDemand(observation.view.waiting, settings.pools, (pool) => {
    const stock = stockOf.get(pool);
    return stock === undefined ? [] : capacitiesOf(stock);
  });
  const waitingOf = ({ pool }: Stock): number => shares.get(pool) ?? 0;
  const needs = stocks.map((stock) => boundedNeed(stock, needOf(stock, waitingOf(stock))));
  const starting = countStarting(observation, settings.deadlines);
  const launching = countOf(observation.busy, 'launch');
  const room = Math.min(settings.launchesAtOnce - launching, settings.startsAtOnce - starting);
  const most = Math.max(0, room);
  const urgent = divide(
    most,
    needs.map((need) => need.urgent),
  );
  const left = most - urgent.reduce((sum, count) => sum + count, 0);
  const ahead = divide(
    left,
    needs.map((need) => need.ahead),
  );
  const launches = stocks.map(({ pool }, index): Action => {
    const extra = ahead[index] ?? 0;
    const count = (urgent[index] ?? 0) + extra;
    return { kind: 'launch', pool: pool.config.pool, count, ahead: extra };
  });
  const others = stocks.flatMap((stock) => planWarm(stock, waitingOf(stock), settings.deadlines));
  return [...launches.filter((action) => action.kind !== 'launch' || action.count > 0), ...others];
};

/** The next steps, most urgent first. Equal observations give equal plans. */
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
