/**
 * Simulates a whole installation in virtual time. Sessions arrive at random and stay for a while,
 * hosts fail at the configured rates, and orchestrators crash and are replaced. A broken invariant
 * throws at once. Progress is checked during the run, and at the end after all faults have ceased.
 */
import type { HostWish } from '#domain/pool.ts';
import type { PoolConfig } from '#pools/pool-config.ts';
import { type Chance, createChance } from '../../support/random/chance.ts';
import { connectModels } from './connect-models.ts';
import type { ModelControl, ModelHost, ModelSession } from './model-control.ts';
import { startModelOrchestrator } from './model-orchestrator.ts';
import { type Faults, type ModelRuntime, noFaults } from './model-runtime.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.ts';

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
   * Time in milliseconds for which a bad state may last beyond its deadline, since each new orchestrator first waits
   * for reports of hosts.
   */
  graceMs: number;
  /** Longest allowed wait of a session while its pools have capacity, in milliseconds. */
  longestWaitMs: number;
};

/** Time in milliseconds after which a lease expires that its holder did not release. */
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

/** Checks of one run. Each throws at the first broken invariant, with the time and the seed. */
class Checks {
  readonly #scenario: Scenario;
  readonly #time: VirtualTime;
  readonly #control: ModelControl;
  readonly #runtime: ModelRuntime;
  readonly #orphanSince = new Map<string, number>();
  readonly #badSince = new Map<string, number>();

  constructor(
    scenario: Scenario,
    time: VirtualTime,
    { control, runtime }: { control: ModelControl; runtime: ModelRuntime },
  ) {
    this.#scenario = scenario;
    this.#time = time;
    this.#control = control;
    this.#runtime = runtime;
  }

  fail(what: string): never {
    const { seed } = this.#scenario;
    throw new Error(`seed ${seed}, ${Math.round(this.#time.now())} ms: ${what}`);
  }

  /** Checks the invariants that hold at any time. */
  checkLimits(): void {
    for (const { pool, maximum } of this.#scenario.pools) {
      const live = this.#control.liveIn(pool);
      if (live > maximum) this.fail(`${pool} has ${live} hosts`);
      const living = this.#runtime.livingIn(pool);
      if (living > maximum) this.fail(`${pool} has ${living} containers`);
    }
  }

  /** Checks that no bad state lasts too long: no host is forgotten, no session starves. */
  checkProgress(): void {
    for (const host of this.#control.hosts.values()) this.#checkHost(host);
    for (const { hostId } of this.#runtime.containers()) {
      if (!this.#control.hosts.has(hostId) && this.#lastsTooLong(this.#orphanSince, hostId)) {
        this.fail(`no plan removes the container of ${hostId}`);
      }
    }
    for (const session of this.#control.waiting.values()) {
      const waitsMs = this.#time.now() - session.waitsSince;
      if (waitsMs > this.#scenario.longestWaitMs) {
        this.fail(`session ${session.id} waits for ${waitsMs} ms`);
      }
    }
  }

  #checkHost(host: ModelHost): void {
    const { id, state, since } = host;
    if (this.#time.now() - since > this.#longestMs(host)) {
      this.fail(`${id} is ${state} for too long`);
    }
    const isDead = state !== 'starting' && !this.#runtime.isWell(id);
    if (isDead && this.#lastsTooLong(this.#badSince, id)) this.fail(`${id} is ${state} and dead`);
  }

  /** Returns the longest time for which a host may be in its state. */
  #longestMs({ state, pool }: ModelHost): number {
    const { pools, graceMs } = this.#scenario;
    const config = pools.find((one) => one.pool === pool);
    if (state === 'starting') return (config?.startMs ?? 0) + graceMs;
    return state === 'warm' || state === 'assigned' ? Number.POSITIVE_INFINITY : 20_000 + graceMs;
  }

  /** Records when the host's bad state was first seen; returns true if that is too long ago. */
  #lastsTooLong(firstSeen: Map<string, number>, hostId: string): boolean {
    const since = firstSeen.get(hostId) ?? this.#time.now();
    firstSeen.set(hostId, since);
    return this.#time.now() - since > this.#scenario.graceMs;
  }
}

/** One run of a scenario: the models, and what happens to them by chance. */
class Simulation {
  readonly #scenario: Scenario;
  readonly #time = createVirtualTime();
  readonly #chance: Chance;
  readonly #control: ModelControl;
  readonly #runtime: ModelRuntime;
  readonly #checks: Checks;
  readonly #seen = { mostSessions: 0, mostHosts: 0, plans: 0, crashes: 0 };
  readonly #planMs: number[] = [];
  #orchestrator: { nudge(): void; stop(): void } | undefined;
  #pools: readonly PoolConfig[];
  #isFaulty = true;
  #release = 1;
  /** Number of the version that the pools' worlds have now. */
  #head = 0;
  #opened = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#chance = createChance(scenario.seed);
    this.#pools = scenario.pools;
    const { control, runtimes } = connectModels({
      time: this.#time,
      chance: this.#chance,
      faults: [() => this.#faults()],
      nudge: () => this.#orchestrator?.nudge(),
      onAssigned: (host, session) => this.#closeLater(host, session),
      onRecycling: (host) => this.#recycle(host),
    });
    const [runtime] = runtimes as [ModelRuntime];
    this.#control = control;
    this.#runtime = runtime;
    this.#checks = new Checks(scenario, this.#time, { control, runtime });
  }

  run(): Outcome {
    this.#begin();
    this.#openAll();
    this.#isFaulty = false;
    const isOverAt = this.#endSessions();
    this.#empty(isOverAt);
    const { sessions, ends } = this.#control;
    return {
      ...this.#seen,
      planMs: this.#planMs,
      waitsMs: sessions.map(({ waitedMs }) => waitedMs).sort((a, b) => a - b),
      closed: sessions.filter(({ state }) => state === 'closed').length,
      failed: sessions.filter(({ state }) => state === 'failed').length,
      ends: Object.fromEntries(ends),
      emptiedInMs: this.#time.now() - isOverAt,
    };
  }

  #begin(): void {
    this.#orchestrator = this.#startOrchestrator();
    this.#setHead();
    this.#crashLater();
    this.#changeReleaseLater();
    this.#time.after(0, () => this.#open());
    this.#checkOn();
  }

  /** Runs until all sessions have been opened. */
  #openAll(): void {
    const { opens } = this.#scenario;
    const areOpen = this.#time.runUntil(this.#opensMs() * 2 + 60_000, () => this.#opened === opens);
    if (!areOpen) this.#checks.fail('opens stop');
  }

  /** Runs until all sessions have ended, and returns when that was. */
  #endSessions(): number {
    const isOver = (): boolean =>
      this.#control.sessions.every(({ state }) => state === 'closed' || state === 'failed');
    const latestMs = this.#opensMs() * 3 + 100 * this.#scenario.meanLifeMs;
    let isOverAt = this.#time.now();
    while (!isOver()) {
      isOverAt = this.#time.now() + checkMs;
      this.#time.runUntil(isOverAt);
      if (isOverAt > latestMs) this.#checks.fail('sessions never end');
    }
    return isOverAt;
  }

  /** Removes all pools, and runs until no host is left. */
  #empty(isOverAt: number): void {
    this.#pools = [];
    this.#orchestrator?.nudge();
    const { hosts } = this.#control;
    const isEmpty = (): boolean => hosts.size === 0 && this.#runtime.containers().length === 0;
    if (this.#time.runUntil(isOverAt + 10 * this.#scenario.graceMs, isEmpty)) return;
    const containers = this.#runtime.containers().length;
    this.#checks.fail(`${hosts.size} hosts and ${containers} containers are left`);
  }

  #opensMs(): number {
    return (this.#scenario.opens / this.#scenario.opensPerSecond) * 1_000;
  }

  #faults(): Faults {
    return this.#isFaulty ? this.#scenario.faults : noFaults;
  }

  #startOrchestrator() {
    return startModelOrchestrator({
      time: this.#time,
      chance: this.#chance,
      control: this.#control,
      runtime: this.#runtime,
      pools: () => this.#pools,
      digestOf: () => `release ${this.#release}`,
      lost: () => (this.#isFaulty ? this.#scenario.lost : 0),
      atOnce: this.#scenario.atOnce,
      nudgeMs: this.#scenario.nudgeMs,
      onPlan: (_, tookMs) => this.#notePlan(tookMs),
    });
  }

  #notePlan(tookMs: number): void {
    this.#seen.plans += 1;
    this.#planMs.push(tookMs);
    this.#seen.mostHosts = Math.max(this.#seen.mostHosts, this.#control.hosts.size);
    this.#checks.checkLimits();
  }

  #checkOn(): void {
    this.#checks.checkProgress();
    this.#time.after(checkMs, () => this.#checkOn());
  }

  /** Closes the session at the end of its life, if the host still serves it then. */
  #closeLater(host: ModelHost, session: ModelSession): void {
    const { uses } = host;
    this.#time.after(session.lifeMs, () => {
      if (host.uses === uses && this.#runtime.isWell(host.id)) this.#control.close(session, host);
    });
  }

  #recycle(host: ModelHost): void {
    const { since } = host;
    if (this.#chance.happens(this.#faults().recycleHangs)) return;
    this.#time.after(this.#chance.between(20, 100), () => {
      if (host.since === since && this.#runtime.isWell(host.id)) this.#control.warm(host);
    });
  }

  #setHead(): void {
    const versionId = `v0.${this.#head}`;
    this.#control.setWorlds(
      this.#pools.flatMap(({ pool, worlds }) =>
        worlds.map(({ world, hosts }) => ({ pool, world, hosts, versionId })),
      ),
    );
  }

  /** Opens a session, and the next one later. */
  #open(): void {
    const { wishes, versions, meanLifeMs, opens, opensPerSecond } = this.#scenario;
    const chance = this.#chance;
    const version = Math.floor(chance.share() ** 2 * versions);
    this.#control.open({
      wish: wishes[Math.floor(chance.share() * wishes.length)] as HostWish,
      versionId: version === 0 ? `v0.${this.#head}` : `v${version}`,
      reuseWarm: chance.happens(0.5),
      keepWarm: chance.happens(0.5),
      lifeMs: 1_000 + chance.around(meanLifeMs),
    });
    this.#opened += 1;
    if (this.#opened % 100 === 0) this.#countSessions();
    if (this.#opened < opens) {
      this.#time.after(chance.around(1_000 / opensPerSecond), () => this.#open());
    }
  }

  #countSessions(): void {
    const hosts = [...this.#control.hosts.values()];
    const serving = hosts.filter(({ state }) => state === 'assigned').length;
    this.#seen.mostSessions = Math.max(this.#seen.mostSessions, serving);
  }

  #crashLater(leastMs = 0): void {
    const ms = leastMs + this.#chance.around(this.#scenario.meanMsBetweenCrashes);
    this.#time.after(ms, () => this.#crash());
  }

  /** Crashes the orchestrator, if there are faults, and replaces it. */
  #crash(): void {
    if (this.#isFaulty) {
      this.#seen.crashes += 1;
      this.#orchestrator?.stop();
      this.#time.after(this.#chance.between(100, leaseMs), () => {
        this.#orchestrator = this.#startOrchestrator();
      });
    }
    this.#crashLater(leaseMs);
  }

  #changeReleaseLater(): void {
    const ms = this.#chance.around(this.#scenario.meanMsBetweenReleases);
    this.#time.after(ms, () => this.#changeRelease());
  }

  #changeRelease(): void {
    if (this.#isFaulty) {
      this.#release += 1;
      this.#head += 1;
      this.#setHead();
    }
    this.#changeReleaseLater();
  }
}

/** Runs a scenario to its end. Throws at the first broken invariant, with the time and the seed. */
export const simulate = (scenario: Scenario): Outcome => new Simulation(scenario).run();
