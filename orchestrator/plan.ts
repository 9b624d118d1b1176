/**
 * What to do next, decided from what was observed: no I/O, no clock, no log, no memory. Each action is
 * one step; what it leads to is seen by the next observation, so a plan never depends on how the last
 * one went and can be made again after any crash.
 *
 * The tables of decisions are in docs/orchestrator.md, and in plan.golden.txt row by row.
 */
import type { HostEnd, HostState } from '#domain/host.ts';
import { suits } from '#domain/pool.ts';
import type { PoolHost, PoolView } from '#wire/pool-api/operations.ts';
import type { Container } from './driver/driver.ts';
import { offerOf, type PoolConfig } from './pools/pool-config.ts';

export type Observation = {
  view: PoolView;
  containers: readonly Container[];
  /** Hosts with a launch or a destroy under way here; they are left alone until it has ended. */
  busy: ReadonlyMap<string, 'launch' | 'destroy'>;
  /** How long the control plane has answered without a gap, in milliseconds. */
  steadyMs: number;
};

/** A pool as it is to be now. */
export type PoolSettings = {
  config: PoolConfig;
  /** What its containers are made from now; those with another digest are outdated. */
  digest: string;
  /** Hosts to keep warm. */
  target: number;
  /** Launches that the breaker allows now. */
  launchAllowance: number;
};

export type PlanSettings = {
  /** In the order in which they are asked to serve a session that several suit. */
  pools: readonly PoolSettings[];
  /** Launches and destroys that may be under way at once, each. */
  launchesAtOnce: number;
  destroysAtOnce: number;
  deadlines: Deadlines;
};

/** How long a host may be in a bad way before something is done about it, in milliseconds. */
export type Deadlines = {
  /** Without a message from a host that has to send heartbeats. */
  silentMs: number;
  recycleMs: number;
  /** An intent without a container: longer than a lease, so that no predecessor is still at it. */
  intentMs: number;
  /** A warm host more than the pool wants. */
  surplusMs: number;
  /** A warm host that waiting sessions do not take does not fit them after this long. */
  unfitMs: number;
  /** A session just given its host is loading: launches that nobody waits for stay out of its way. */
  loadingMs: number;
};

export type Action =
  | { kind: 'launch'; pool: string; count: number }
  | { kind: 'adopt'; hostId: string; state: HostState }
  | { kind: 'drain'; hostId: string; state: HostState; reason: HostEnd }
  | { kind: 'report_gone'; hostId: string; state: HostState; reason: HostEnd }
  | { kind: 'destroy'; hostId: string; why: 'draining' | 'orphan' };

const isPresent = <Value>(value: Value | undefined): value is Value => value !== undefined;

const isDead = (container: Container | undefined): boolean => container?.phase !== 'running';

/** Why a row's container is known not to serve any more; undefined while it may still come. */
const goneReason = (
  host: PoolHost,
  container: Container | undefined,
  { intentMs }: Deadlines,
): HostEnd | undefined => {
  if (!isDead(container)) return undefined;
  if (container?.phase === 'exited') return container.exit?.reason ?? 'exited';
  if (host.launched || host.state !== 'starting') return 'exited';
  return host.stateAgeMs > intentMs ? 'start_timeout' : undefined;
};

/** What of its pool a host is judged by; undefined for a host of a pool that is no more. */
type OwnPool = PoolSettings | undefined;

/** Why a host with a running container must leave service; undefined when it may stay. */
const drainReason = (
  host: PoolHost,
  container: Container | undefined,
  pool: OwnPool,
  { steadyMs, deadlines }: Judging,
): HostEnd | undefined => {
  // Time in which the control plane did not answer is nobody's fault: a host could not report either.
  const inStateMs = Math.min(host.stateAgeMs, steadyMs);
  const silentMs = Math.min(host.silentMs ?? 0, steadyMs);
  if (host.state === 'starting') {
    return inStateMs > (pool?.config.startMs ?? 0) ? 'start_timeout' : undefined;
  }
  if (silentMs > deadlines.silentMs) return 'silent';
  if (host.state === 'recycling' && inStateMs > deadlines.recycleMs) return 'recycle_timeout';
  if (host.state === 'warm' && container?.digest !== pool?.digest) return 'outdated';
  return undefined;
};

type Judging = { steadyMs: number; deadlines: Deadlines };

/** The step that one host's own condition asks for. */
const planHost = (
  host: PoolHost,
  container: Container | undefined,
  pool: OwnPool,
  judging: Judging,
): Action | undefined => {
  const { id: hostId, state } = host;
  if (state === 'draining') {
    return container === undefined
      ? { kind: 'report_gone', hostId, state, reason: 'exited' }
      : { kind: 'destroy', hostId, why: 'draining' };
  }
  const gone = goneReason(host, container, judging.deadlines);
  if (gone !== undefined) return { kind: 'report_gone', hostId, state, reason: gone };
  if (isDead(container)) return undefined;
  const drain = drainReason(host, container, pool, judging);
  if (drain !== undefined) return { kind: 'drain', hostId, state, reason: drain };
  return host.launched ? undefined : { kind: 'adopt', hostId, state };
};

/** Hosts by what they can still do for the pool, drains just decided left out. */
const takeStock = (hosts: readonly PoolHost[], leaving: ReadonlySet<string>, pool: string) => {
  const staying = hosts.filter((host) => host.pool === pool && !leaving.has(host.id));
  const warm = staying.filter((host) => host.state === 'warm');
  return {
    starting: staying.filter((host) => host.state === 'starting').length,
    warm,
    fresh: warm.filter((host) => host.versionId === null).length,
  };
};

/**
 * How many launches the pool wants: `target` fresh hosts beyond one for each waiting session. A fresh
 * warm host counts for a waiting session: it fits any, and is on its way to one between two steps.
 */
const wantedLaunches = (starting: number, fresh: number, waiting: number, target: number): number =>
  Math.max(0, target + waiting - fresh - starting);

/** Whether launches can wait: no session does, half the target is there, and one is just loading. */
const canWait = (
  hosts: readonly PoolHost[],
  fresh: number,
  waiting: number,
  target: number,
  { loadingMs }: Deadlines,
): boolean =>
  waiting === 0 &&
  fresh > 0 &&
  fresh * 2 >= target &&
  hosts.some(({ state, stateAgeMs }) => state === 'assigned' && stateAgeMs < loadingMs);

const byHoldingThenAge = (a: PoolHost, b: PoolHost): number =>
  Number(b.versionId !== null) - Number(a.versionId !== null) || b.stateAgeMs - a.stateAgeMs;

const drainSurplus = ({ id: hostId, state }: PoolHost): Action => ({
  kind: 'drain',
  hostId,
  state,
  reason: 'surplus',
});

/** Warm hosts to give up: those over the target for long, and those in the way of waiting sessions. */
const planSurplus = (
  warm: readonly PoolHost[],
  target: number,
  inTheWay: number,
  { surplusMs, unfitMs }: Deadlines,
): Action[] => {
  const candidates = warm.toSorted(byHoldingThenAge);
  const over = candidates
    .slice(0, Math.max(0, warm.length - target))
    .filter((host) => host.stateAgeMs > surplusMs);
  const unfit = candidates.filter((host) => host.stateAgeMs > unfitMs).slice(0, inTheWay);
  return [...new Set([...over, ...unfit])].map(drainSurplus);
};

/** One pool's part of a plan. */
const planSize = (
  hosts: readonly PoolHost[],
  pool: PoolSettings,
  waiting: number,
  atOnce: number,
  { deadlines }: PlanSettings,
  leaving: ReadonlySet<string>,
): Action[] => {
  const { config, target } = pool;
  const stock = takeStock(hosts, leaving, config.pool);
  const { starting, fresh } = stock;
  const wanted = canWait(hosts, fresh, waiting, target, deadlines)
    ? 0
    : wantedLaunches(starting, fresh, waiting, target);
  const live = hosts.filter((host) => host.pool === config.pool).length;
  const room = Math.max(0, config.maximum - live);
  const count = Math.min(wanted, room, atOnce, pool.launchAllowance);
  const unserved = Math.max(0, waiting - starting - room);
  const surplus = planSurplus(stock.warm, target, unserved, deadlines);
  return count > 0 ? [...surplus, { kind: 'launch', pool: config.pool, count }] : surplus;
};

const waitingFor = (view: PoolView, pool: PoolSettings, pools: readonly PoolSettings[]): number =>
  view.waiting
    .filter((wish) => pools.find(({ config }) => suits(offerOf(config), wish)) === pool)
    .reduce((sum, { count }) => sum + count, 0);

const planSizes = (
  { view, busy }: Observation,
  settings: PlanSettings,
  leaving: ReadonlySet<string>,
): Action[] => {
  let atOnce = settings.launchesAtOnce - countOf(busy, 'launch');
  return settings.pools.flatMap((pool) => {
    const waiting = waitingFor(view, pool, settings.pools);
    const actions = planSize(view.hosts, pool, waiting, atOnce, settings, leaving);
    for (const action of actions) if (action.kind === 'launch') atOnce -= action.count;
    return actions;
  });
};

const countOf = (busy: Observation['busy'], work: 'launch' | 'destroy'): number =>
  [...busy.values()].filter((value) => value === work).length;

/** The next steps, most urgent first. Equal observations give equal plans. */
export const plan = (observation: Observation, settings: PlanSettings): Action[] => {
  const { view, containers, busy, steadyMs } = observation;
  const judging = { steadyMs, deadlines: settings.deadlines };
  const containerOf = new Map(containers.map((container) => [container.hostId, container]));
  const poolOf = new Map(settings.pools.map((pool) => [pool.config.pool, pool]));
  const rows = new Set(view.hosts.map((host) => host.id));
  const perHost = view.hosts
    .filter((host) => !busy.has(host.id))
    .map((host) => planHost(host, containerOf.get(host.id), poolOf.get(host.pool), judging))
    .filter(isPresent);
  const orphans = containers
    .filter(({ hostId }) => !rows.has(hostId) && !busy.has(hostId))
    .map(({ hostId }): Action => ({ kind: 'destroy', hostId, why: 'orphan' }));
  const destroys = [...perHost.filter(({ kind }) => kind === 'destroy'), ...orphans].slice(
    0,
    Math.max(0, settings.destroysAtOnce - countOf(busy, 'destroy')),
  );
  const reports = perHost.filter(({ kind }) => kind !== 'destroy');
  const leaving = new Set(
    reports.flatMap((action) =>
      action.kind === 'drain' || action.kind === 'report_gone' ? [action.hostId] : [],
    ),
  );
  return [...reports, ...planSizes(observation, settings, leaving), ...destroys];
};
