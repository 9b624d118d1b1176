/**
 * Simulates a whole installation in virtual time. Sessions arrive at random and stay for a while,
 * hosts fail at the configured rates, and orchestrators crash and are replaced. A broken invariant
 * throws at once. Progress is checked during the run, and at the end after all faults have ceased.
 */
import type { HostWish } from '#domain/pool.ts';
import type { PoolConfig } from '#pools/pool-config.ts';
import type { Action } from '../../../orchestrator/plan/terms.ts';
import { createChance } from '../../support/random/chance.ts';
import { connectModels } from './connect-models.ts';
import type { ModelHost } from './model-control.ts';
import { startModelOrchestrator } from './model-orchestrator.ts';
import { type Faults, type ModelRuntime, noFaults } from './model-runtime.ts';
import { createVirtualTime } from './virtual-time.ts';

export type Scenario = {
  seed: number;
  pools: readonly PoolConfig[];
  opens: number;
  opensPerSecond: number;
  meanLifeMs: number;
  wishes: readonly HostWish[];
  /** Number of world versions; pools with worlds keep the first one loaded. */
  versions: number;
  faults: Faults;
  /** Probability that a message of the orchestrator, or a nudge to it, is lost. */
  lost: number;
  meanMsBetweenCrashes: number;
  meanMsBetweenReleases: number;
  atOnce: number;
  nudgeMs: number;
  /**
   * Allowed duration of a bad state beyond its deadline: each new orchestrator first waits for
   * reports of hosts.
   */
  graceMs: number;
  /** Longest allowed wait of a session while its pools have capacity, in milliseconds. */
  longestWaitMs: number;
};

/** Time until a lease expires that its holder did not release. */
const leaseMs = 6_000;
const checkMs = 5_000;

export type Outcome = {
  mostSessions: number;
  mostHosts: number;
  plans: number;
  planMs: number[];
  crashes: number;
  waitsMs: number[];
  closed: number;
  failed: number;
  ends: Record<string, number>;
  /** Time from the last session until no host was left, in virtual milliseconds. */
  emptiedInMs: number;
};

/** Runs a scenario to its end. Throws at the first broken invariant, with the time and the seed. */
export const simulate = (scenario: Scenario): Outcome => {
  const time = createVirtualTime();
  const chance = createChance(scenario.seed);
  const { graceMs } = scenario;
  let pools = scenario.pools;
  let isFaulty = true;
  let release = 1;
  let head = 0;
  let open = 0;
  const outcome = { mostSessions: 0, mostHosts: 0, plans: 0, crashes: 0 };
  const planMs: number[] = [];
  const faults = (): Faults => (isFaulty ? scenario.faults : noFaults);

  const fail = (what: string): never => {
    throw new Error(`seed ${scenario.seed}, ${Math.round(time.now())} ms: ${what}`);
  };

  const { control, runtimes } = connectModels({
    time,
    chance,
    faults: [faults],
    nudge: () => orchestrator?.nudge(),
    onAssigned: (host, session) => {
      const { uses } = host;
      time.after(session.lifeMs, () => {
        if (host.uses === uses && runtime.isWell(host.id)) control.close(session, host);
      });
    },
    onRecycling: (host) => {
      const { since } = host;
      if (chance.happens(faults().recycleHangs)) return;
      time.after(chance.between(20, 100), () => {
        if (host.since === since && runtime.isWell(host.id)) control.warm(host);
      });
    },
  });
  const [runtime] = runtimes as [ModelRuntime];
  const setHead = (): void =>
    control.setWorlds(
      pools.flatMap(({ pool, worlds }) =>
        worlds.map(({ world, hosts }) => ({ pool, world, hosts, versionId: `v0.${head}` })),
      ),
    );

  const start = () =>
    startModelOrchestrator({
      time,
      chance,
      control,
      runtime,
      pools: () => pools,
      digestOf: () => `release ${release}`,
      lost: () => (isFaulty ? scenario.lost : 0),
      atOnce: scenario.atOnce,
      nudgeMs: scenario.nudgeMs,
      onPlan: (_: readonly Action[], tookMs) => {
        outcome.plans += 1;
        planMs.push(tookMs);
        check();
      },
    });

  /** Checks the invariants that hold at any time. */
  const check = (): void => {
    outcome.mostHosts = Math.max(outcome.mostHosts, control.hosts.size);
    for (const { pool, maximum } of scenario.pools) {
      if (control.liveIn(pool) > maximum) fail(`${pool} has ${control.liveIn(pool)} hosts`);
      if (runtime.livingIn(pool) > maximum) {
        fail(`${pool} has ${runtime.livingIn(pool)} containers`);
      }
    }
  };

  const longestMs = ({ state, pool }: ModelHost): number => {
    const config = scenario.pools.find((one) => one.pool === pool);
    if (state === 'starting') return (config?.startMs ?? 0) + graceMs;
    return state === 'warm' || state === 'assigned' ? Number.POSITIVE_INFINITY : 20_000 + graceMs;
  };
  const orphanSince = new Map<string, number>();
  const badSince = new Map<string, number>();
  /** Checks that no bad state lasts too long: no host is forgotten, no session starves. */
  const checkProgress = (): void => {
    const now = time.now();
    for (const host of control.hosts.values()) {
      if (now - host.since > longestMs(host)) fail(`${host.id} is ${host.state} for too long`);
      if (host.state !== 'starting' && !runtime.isWell(host.id)) {
        const since = badSince.get(host.id) ?? now;
        badSince.set(host.id, since);
        if (now - since > graceMs) fail(`${host.id} is ${host.state} and dead`);
      }
    }
    for (const { hostId } of runtime.containers()) {
      if (control.hosts.has(hostId)) continue;
      const since = orphanSince.get(hostId) ?? now;
      orphanSince.set(hostId, since);
      if (now - since > graceMs) fail(`no plan removes the container of ${hostId}`);
    }
    for (const session of control.waiting.values()) {
      const waitsMs = now - session.waitsSince;
      if (waitsMs > scenario.longestWaitMs) fail(`session ${session.id} waits for ${waitsMs} ms`);
    }
  };
  const checkOn = (): void => {
    checkProgress();
    time.after(checkMs, checkOn);
  };

  const openOne = (): void => {
    const version = Math.floor(chance.share() ** 2 * scenario.versions);
    control.open({
      wish: scenario.wishes[Math.floor(chance.share() * scenario.wishes.length)] as HostWish,
      versionId: version === 0 ? `v0.${head}` : `v${version}`,
      reuseWarm: chance.happens(0.5),
      keepWarm: chance.happens(0.5),
      lifeMs: 1_000 + chance.around(scenario.meanLifeMs),
    });
    open += 1;
    if (open % 100 === 0) {
      const serving = [...control.hosts.values()].filter(
        ({ state }) => state === 'assigned',
      ).length;
      outcome.mostSessions = Math.max(outcome.mostSessions, serving);
    }
    if (open < scenario.opens) time.after(chance.around(1_000 / scenario.opensPerSecond), openOne);
  };
  const crash = (): void => {
    if (isFaulty) {
      outcome.crashes += 1;
      orchestrator.stop();
      time.after(chance.between(100, leaseMs), () => {
        orchestrator = start();
      });
    }
    time.after(leaseMs + chance.around(scenario.meanMsBetweenCrashes), crash);
  };
  const changeRelease = (): void => {
    if (isFaulty) {
      release += 1;
      head += 1;
      setHead();
    }
    time.after(chance.around(scenario.meanMsBetweenReleases), changeRelease);
  };

  let orchestrator = start();
  setHead();
  time.after(chance.around(scenario.meanMsBetweenCrashes), crash);
  time.after(chance.around(scenario.meanMsBetweenReleases), changeRelease);
  time.after(0, openOne);
  checkOn();

  const opensMs = (scenario.opens / scenario.opensPerSecond) * 1_000;
  if (!time.runUntil(opensMs * 2 + 60_000, () => open === scenario.opens)) fail('opens stop');
  isFaulty = false;
  const isOver = (): boolean =>
    control.sessions.every(({ state }) => state === 'closed' || state === 'failed');
  let isOverAt = time.now();
  while (!isOver()) {
    isOverAt = time.now() + checkMs;
    time.runUntil(isOverAt);
    if (isOverAt > opensMs * 3 + 100 * scenario.meanLifeMs) fail('sessions never end');
  }
  pools = [];
  orchestrator.nudge();
  const isEmpty = (): boolean => control.hosts.size === 0 && runtime.containers().length === 0;
  if (!time.runUntil(isOverAt + 10 * graceMs, isEmpty)) {
    fail(`${control.hosts.size} hosts and ${runtime.containers().length} containers are left`);
  }
  const { sessions } = control;
  return {
    ...outcome,
    planMs,
    waitsMs: sessions.map(({ waitedMs }) => waitedMs).sort((a, b) => a - b),
    closed: sessions.filter(({ state }) => state === 'closed').length,
    failed: sessions.filter(({ state }) => state === 'failed').length,
    ends: Object.fromEntries(control.ends),
    emptiedInMs: time.now() - isOverAt,
  };
};
