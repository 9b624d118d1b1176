/**
 * How many hosts a pool needs: launches, which of its warm hosts load a world ahead of any session, and
 * which it can do without. The sections "Size" and "Rolls" of docs/internals/orchestrator.md.
 */
import type { HostEnd } from '#domain/host.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import type { Held, Stock } from './stock.ts';
import type { Action, Deadlines } from './terms.ts';

/** Launches that a pool asks for: those that sessions wait for, and those ahead of demand. */
export type Need = { urgent: number; ahead: number };

const roomIn = ({ pool, live }: Stock): number => Math.max(0, pool.config.maximum - live);

const canLaunch = ({ pool, trouble }: Stock): boolean =>
  trouble === undefined && pool.launchAllowance > 0;

const byAge = (a: PoolHost, b: PoolHost): number => b.stateAgeMs - a.stateAgeMs;

/**
 * Warm hosts that hold something: `extra` ones that nobody would miss, and those that the pool is to keep.
 * Of versions whose head is not known, those loaded last are the likeliest to be one.
 */
const holdersOf = ({ held, unsure, spare }: Stock) => {
  const all = [...held, { ...unsure, warm: unsure.warm.toSorted(byAge).toReversed() }];
  return {
    kept: all.flatMap(({ warm, wanted }) => warm.slice(0, wanted)),
    extra: [...spare, ...all.flatMap(({ warm, wanted }) => warm.slice(wanted))],
  };
};

/**
 * How many waiting sessions a pool can serve at each price: with what it has and may still launch; when
 * hosts that nobody would miss make room; when those with kept worlds do, too; by the next trial.
 */
export const capacitiesOf = (stock: Stock): readonly [number, number, number, number] => {
  const { pool, starting, fresh, draining, superseded, trouble } = stock;
  const coming = fresh.length + starting;
  if (trouble !== undefined && trouble !== 'unschedulable') return [coming, coming, coming, coming];
  const room = trouble === undefined ? roomIn(stock) : 0;
  const { kept, extra } = holdersOf(stock);
  const leaving = draining + superseded.length + extra.length;
  if (pool.isHeld) {
    const trials = Math.min(pool.launchAllowance, room + leaving + kept.length);
    return [coming, coming, coming, coming + trials];
  }
  const all = coming + room + leaving + kept.length;
  return [coming + room, coming + room + leaving, all, all];
};

/** Outdated hosts that are replaced at once. */
const surgeOf = ({ pool }: Stock): number => Math.max(1, pool.config.surge);

const countStale = (stock: Stock, hosts: readonly PoolHost[]): number =>
  hosts.filter((host) => stock.stale.has(host)).length;

/** Hosts that are to begin loading a version; while its holders are rolled, a few more than wanted. */
const missing = (stock: Stock, { wanted, warm, loading }: Held): number =>
  Math.max(0, wanted + Math.min(countStale(stock, warm), surgeOf(stock)) - warm.length - loading);

const missingInAll = (stock: Stock): number =>
  stock.held.reduce((sum, held) => sum + missing(stock, held), 0);

/** Whether launches can wait: no session does, half the target is there, and one is just loading. */
const canWait = ({ isLoading, fresh, pool }: Stock, waiting: number): boolean =>
  isLoading && waiting === 0 && fresh.length > 0 && fresh.length * 2 >= pool.target;

/**
 * The launches that a pool needs, whether it may have them or not. A fresh warm host counts for a
 * waiting session: it fits any, and is on its way to one between two steps.
 */
export const needOf = (stock: Stock, waiting: number): Need => {
  const coming = stock.fresh.length + stock.starting;
  const urgent = Math.max(0, waiting - coming);
  const rolled = Math.min(countStale(stock, stock.fresh), surgeOf(stock));
  const wanted = stock.pool.target + waiting + missingInAll(stock) + rolled;
  const ahead = canWait(stock, waiting) ? 0 : Math.max(0, wanted - coming - urgent);
  return { urgent, ahead };
};

/** What of its need a pool may launch now. */
export const boundedNeed = (stock: Stock, { urgent, ahead }: Need): Need => {
  const most = canLaunch(stock) ? Math.min(roomIn(stock), stock.pool.launchAllowance) : 0;
  const first = Math.min(urgent, most);
  return { urgent: first, ahead: Math.min(ahead, most - first, Math.floor(stock.pool.tokens)) };
};

/** Fresh hosts over what waiting sessions and the target need. */
const overTarget = ({ fresh, pool }: Stock, waiting: number): number =>
  Math.max(0, fresh.length - waiting - pool.target);

/** Has fresh hosts over the target load the versions that are missing; stale ones are left out. */
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
 * How many of the fresh hosts may leave for their replacements. At the maximum there is no room for a
 * replacement, so as many leave first as are replaced at a time.
 */
const dispensable = (stock: Stock, waiting: number, taken: number): number => {
  const { fresh, starting, draining, pool } = stock;
  const have = fresh.length - waiting - taken;
  if (have > pool.target || roomIn(stock) > 0 || !canLaunch(stock)) {
    return Math.max(0, have - pool.target);
  }
  const attainable = Math.min(pool.target, fresh.length + starting + draining);
  return Math.max(0, have - Math.max(0, attainable - surgeOf(stock)));
};

/** Holders of one version that may leave for their replacements. */
const dispensableHolders = (stock: Stock, { wanted, warm, loading }: Held): number => {
  const surplus = warm.length - wanted;
  const isFull = roomIn(stock) === 0 && stock.draining + stock.starting + loading === 0;
  return Math.max(0, isFull && canLaunch(stock) ? surplus + surgeOf(stock) : surplus);
};

/** Stale warm hosts whose time has come: each once another can take its place. */
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
 * Sessions that only a warm host's end can make room for, in the pool or on its machines. Room that no
 * launch may take now would serve nobody.
 */
const unserved = (stock: Stock, waiting: number): number => {
  const { pool, starting, draining, trouble } = stock;
  const lacking = waiting - starting;
  if (trouble === 'unschedulable') return Math.max(0, lacking - draining);
  if (trouble !== undefined) return 0;
  return Math.max(0, Math.min(lacking, pool.launchAllowance) - draining - roomIn(stock));
};

/** Fresh hosts for which a full pool has no room, unless others leave. */
const crowdedOut = (stock: Stock): number => {
  const { pool, fresh, starting, draining } = stock;
  if (roomIn(stock) > 0 || !canLaunch(stock)) return 0;
  return Math.max(0, pool.target - fresh.length - starting - draining);
};

/**
 * Warm hosts to give up: those that hold what nobody will ask for, those over the target for long, and
 * those in the way of waiting sessions that none of them fits. Hosts of which a step is planned already
 * are left alone, and those of them that leave make room, too.
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
