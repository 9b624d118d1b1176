/**
 * Decides a pool's size: its launches, the warm hosts that load a world ahead of sessions, and the hosts that it gives
 * up. See the sections "Size" and "Rolls" of docs/internals/orchestrator.md.
 */
import type { HostEnd } from '#domain/host.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import type { Held, Stock } from './stock.ts';
import type { Action, Deadlines } from './terms.ts';

/** Launches that a pool needs: those that sessions wait for, and those ahead of demand. */
export type Need = { urgent: number; ahead: number };

const capacityOf = ({ pool, live }: Stock): number => Math.max(0, pool.config.maximum - live);

const canLaunch = ({ pool, trouble }: Stock): boolean =>
  trouble === undefined && pool.launchAllowance > 0;

const byAge = (a: PoolHost, b: PoolHost): number => b.stateAgeMs - a.stateAgeMs;

/**
 * Splits warm hosts with a loaded world into `extra` ones, which the pool can release, and those that it keeps. If a
 * world's head is unknown, its latest loaded version is the likeliest to be the head.
 */
const holdersOf = ({ held, unsure, spare }: Stock) => {
  const all = [...held, { ...unsure, warm: unsure.warm.toSorted(byAge).toReversed() }];
  return {
    kept: all.flatMap(({ warm, wanted }) => warm.slice(0, wanted)),
    extra: [...spare, ...all.flatMap(({ warm, wanted }) => warm.slice(wanted))],
  };
};

/**
 * Returns how many waiting sessions a pool can serve at each price. The prices, lowest first: with its present hosts
 * and the launches that it has left; by releasing extra hosts; by releasing kept hosts as well; by the next trial.
 */
export const capacitiesOf = (stock: Stock): readonly [number, number, number, number] => {
  const { pool, starting, fresh, draining, superseded, trouble } = stock;
  const coming = fresh.length + starting;
  if (trouble !== undefined && trouble !== 'unschedulable') return [coming, coming, coming, coming];
  const capacity = trouble === undefined ? capacityOf(stock) : 0;
  const { kept, extra } = holdersOf(stock);
  const leaving = draining + superseded.length + extra.length;
  if (pool.isHeld) {
    const trials = Math.min(pool.launchAllowance, capacity + leaving + kept.length);
    return [coming, coming, coming, coming + trials];
  }
  const all = coming + capacity + leaving + kept.length;
  return [coming + capacity, coming + capacity + leaving, all, all];
};

/** Returns how many outdated hosts are replaced at once. */
const surgeOf = ({ pool }: Stock): number => Math.max(1, pool.config.surge);

const countStale = (stock: Stock, hosts: readonly PoolHost[]): number =>
  hosts.filter((host) => stock.stale.has(host)).length;

/**
 * Returns how many hosts have to begin loading a version. While outdated holders of the version are replaced, it is a
 * few more than wanted.
 */
const missing = (stock: Stock, { wanted, warm, loading }: Held): number =>
  Math.max(0, wanted + Math.min(countStale(stock, warm), surgeOf(stock)) - warm.length - loading);

const missingInAll = (stock: Stock): number =>
  stock.held.reduce((sum, held) => sum + missing(stock, held), 0);

/** Returns true if launches can wait: no session waits, half the target is warm, and a session is just loading. */
const canWait = ({ isLoading, fresh, pool }: Stock, waiting: number): boolean =>
  isLoading && waiting === 0 && fresh.length > 0 && fresh.length * 2 >= pool.target;

/**
 * Returns the launches that a pool needs, allowed or not. A fresh warm host counts for a waiting session: it suits
 * any, and is about to be assigned to one.
 */
export const needOf = (stock: Stock, waiting: number): Need => {
  const coming = stock.fresh.length + stock.starting;
  const urgent = Math.max(0, waiting - coming);
  const rolled = Math.min(countStale(stock, stock.fresh), surgeOf(stock));
  const wanted = stock.pool.target + waiting + missingInAll(stock) + rolled;
  const ahead = canWait(stock, waiting) ? 0 : Math.max(0, wanted - coming - urgent);
  return { urgent, ahead };
};

/** Returns the part of its need that a pool may launch now. */
export const boundedNeed = (stock: Stock, { urgent, ahead }: Need): Need => {
  const most = canLaunch(stock) ? Math.min(capacityOf(stock), stock.pool.launchAllowance) : 0;
  const first = Math.min(urgent, most);
  return { urgent: first, ahead: Math.min(ahead, most - first, Math.floor(stock.pool.tokens)) };
};

/** Returns the number of fresh hosts beyond waiting sessions and the target. */
const overTarget = ({ fresh, pool }: Stock, waiting: number): number =>
  Math.max(0, fresh.length - waiting - pool.target);

/** Plans loads: fresh hosts over the target load the missing versions. Stale hosts are left out. */
export const planLoads = (stock: Stock, waiting: number): Action[] => {
  const idle = stock.fresh.filter((host) => host.launched && !stock.stale.has(host));
  const loaders = idle.slice(0, overTarget(stock, waiting));
  return stock.held.flatMap((held) =>
    loaders.splice(0, missing(stock, held)).map(({ id: hostId, pool }): Action => {
      return { kind: 'load', hostId, pool, versionId: held.versionId };
    }),
  );
};

const drain = ({ id: hostId, pool, state }: PoolHost, reason: HostEnd): Action => ({
  kind: 'drain',
  hostId,
  pool,
  state,
  reason,
});

/**
 * Returns how many fresh hosts may leave for their replacements. At the maximum there is no capacity for a
 * replacement, so a batch of `surge` hosts leaves first.
 */
const dispensable = (stock: Stock, waiting: number, taken: number): number => {
  const { fresh, starting, draining, pool } = stock;
  const have = fresh.length - waiting - taken;
  if (have > pool.target || capacityOf(stock) > 0 || !canLaunch(stock)) {
    return Math.max(0, have - pool.target);
  }
  const attainable = Math.min(pool.target, fresh.length + starting + draining);
  return Math.max(0, have - Math.max(0, attainable - surgeOf(stock)));
};

/** Returns how many holders of one version may leave for their replacements. */
const dispensableHolders = (stock: Stock, { wanted, warm, loading }: Held): number => {
  const surplus = warm.length - wanted;
  const isFull = capacityOf(stock) === 0 && stock.draining + stock.starting + loading === 0;
  return Math.max(0, isFull && canLaunch(stock) ? surplus + surgeOf(stock) : surplus);
};

/** Plans the end of stale warm hosts, each once another host can take its place. */
export const planRoll = (stock: Stock, waiting: number, loads: number): Action[] => {
  const { stale, fresh, held, spare, superseded, unsure } = stock;
  if (stale.size === 0) return [];
  const staleOf = (hosts: readonly PoolHost[]): PoolHost[] => hosts.filter((one) => stale.has(one));
  const leaving = [
    ...staleOf([...spare, ...superseded, ...unsure.warm]),
    ...staleOf(fresh).slice(0, dispensable(stock, waiting, loads)),
    ...held.flatMap((one) => staleOf(one.warm).slice(0, dispensableHolders(stock, one))),
  ];
  return leaving.map((host) => drain(host, stale.get(host) ?? 'outdated'));
};

/**
 * Returns how many sessions can be served only if a warm host ends, in the pool or on its machines. Capacity that no
 * launch may use now would serve no session, so it does not count.
 */
const unserved = (stock: Stock, waiting: number): number => {
  const { pool, starting, draining, trouble } = stock;
  const lacking = waiting - starting;
  if (trouble === 'unschedulable') return Math.max(0, lacking - draining);
  if (trouble !== undefined) return 0;
  return Math.max(0, Math.min(lacking, pool.launchAllowance) - draining - capacityOf(stock));
};

/** Returns how many fresh hosts a full pool cannot have unless other hosts leave. */
const crowdedOut = (stock: Stock): number => {
  const { pool, fresh, starting, draining } = stock;
  if (capacityOf(stock) > 0 || !canLaunch(stock)) return 0;
  return Math.max(0, pool.target - fresh.length - starting - draining);
};

/**
 * Plans the end of warm hosts that the pool releases: those with a superseded version, those over the target for long,
 * and those that waiting sessions cannot use but that take up their capacity. Hosts with a planned step are left alone;
 * those that leave count as freed capacity.
 */
export const planSurplus = (
  stock: Stock,
  waiting: number,
  { surplusMs, unfitMs }: Deadlines,
  steps: readonly Action[],
): Action[] => {
  const { pool, superseded } = stock;
  const taken = new Set(steps.flatMap((step) => ('hostId' in step ? [step.hostId] : [])));
  const leavers = steps.filter(({ kind }) => kind === 'drain').length;
  const { kept, extra } = holdersOf(stock);
  const candidates = [...extra.toSorted(byAge), ...stock.fresh.toSorted(byAge)].filter(
    (host) => !taken.has(host.id),
  );
  const over = candidates
    .slice(0, Math.max(candidates.length - pool.target, Math.min(extra.length, crowdedOut(stock))))
    .filter((host) => host.stateAgeMs > surplusMs);
  const outdone = superseded.filter((host) => !taken.has(host.id));
  const inTheWay = [...candidates, ...kept]
    .filter((host) => host.stateAgeMs > unfitMs && !taken.has(host.id))
    .slice(0, Math.max(0, unserved(stock, waiting) - leavers - outdone.length));
  const leaving = new Set([...outdone, ...over, ...inTheWay]);
  return [...leaving].map((host) => drain(host, 'surplus'));
};
