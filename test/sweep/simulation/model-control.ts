/**
 * Model of the control plane: rows of hosts and sessions, and the rules by which they change. It
 * assigns sessions like `src/control/db/sessions/assignment.ts` and accepts the orchestrator's
 * messages like the pool API. It throws as soon as an invariant would be broken.
 */
import { type HostState, hostTransitions } from '#domain/host.ts';
import { type HostOffer, type HostWish, suits } from '#domain/pool.ts';
import { can } from '#domain/transitions.ts';
import type { PoolHost, PoolView, PoolWorld } from '#wire/pool-api/operations.ts';
import type { VirtualTime } from './virtual-time.ts';

export type ModelHost = {
  id: string;
  pool: string;
  offer: HostOffer;
  state: HostState;
  since: number;
  createdAt: number;
  launched: boolean;
  sessionId: number | null;
  versionId: string | null;
  uses: number;
};

export type ModelSession = {
  id: number;
  wish: HostWish;
  versionId: string;
  reuseWarm: boolean;
  keepWarm: boolean;
  lifeMs: number;
  openedAt: number;
  state: 'waiting' | 'served' | 'closed' | 'failed';
  hostId: string | null;
  attempts: number;
  /** Longest time from open, or from the loss of a host, until a host was assigned. */
  waitedMs: number;
  waitsSince: number;
};

const mostAttempts = 3;
const mostUses = 20;
/** Time on its host after which a session counts as in use, in milliseconds. */
const loadMs = 1_000;

/** Properties of a session that its user chooses on opening it. */
export type OpenedSession = Pick<
  ModelSession,
  'wish' | 'versionId' | 'reuseWarm' | 'keepWarm' | 'lifeMs'
>;

export type ControlHooks = {
  /** Called when a host is assigned a session; its `uses` distinguish assignments. */
  onAssigned(host: ModelHost, session: ModelSession): void;
  /** Called when a host must load a version ahead of any session, or recycle. */
  onRecycling(host: ModelHost): void;
  /** Called on any change that a pool's long poll would answer. */
  onChange(): void;
  /** Returns true if the runtime still runs a container of this host. */
  isAlive(hostId: string): boolean;
};

const placeable = (host: ModelHost, { wish }: ModelSession): boolean =>
  host.launched && suits(host.offer, wish);

/** Index of warm hosts by the version they hold, in the order in which they became warm. */
class WarmHosts {
  readonly #fresh = new Set<ModelHost>();
  readonly #holding = new Map<string, Set<ModelHost>>();

  put(host: ModelHost): void {
    if (host.versionId === null) this.#fresh.add(host);
    else {
      const alike = this.#holding.get(host.versionId) ?? new Set();
      this.#holding.set(host.versionId, alike.add(host));
    }
  }

  remove(host: ModelHost): void {
    this.#fresh.delete(host);
    if (host.versionId !== null) this.#holding.get(host.versionId)?.delete(host);
  }

  /** Returns the host that the session is assigned: one that holds its version, or a fresh one. */
  find(session: ModelSession): ModelHost | undefined {
    const alike = this.#holding.get(session.versionId) ?? [];
    const held = [...alike].filter((host) => placeable(host, session));
    const loaded =
      held.find((host) => host.uses === 0) ?? (session.reuseWarm ? held[0] : undefined);
    if (loaded !== undefined) return loaded;
    for (const host of this.#fresh) if (placeable(host, session)) return host;
    return held[0];
  }
}

/** Returns a host as its pool sees it. */
const viewOfHost = (
  host: ModelHost,
  now: number,
  silentMs: (hostId: string) => number,
): PoolHost => ({
  id: host.id,
  pool: host.pool,
  state: host.state,
  sessionId: host.sessionId === null ? null : `s${host.sessionId}`,
  stateAgeMs: now - host.since,
  silentMs: host.state === 'starting' ? null : silentMs(host.id),
  ageMs: now - host.createdAt,
  launched: host.launched,
  versionId: host.versionId,
  uses: host.uses,
});

/** Counts waiting sessions by the tier, isolation and size that they require. */
const countWishes = (waiting: Iterable<ModelSession>): PoolView['waiting'] => {
  const wishes = new Map<string, Required<PoolView['waiting'][number]>>();
  for (const { id, wish } of waiting) {
    const key = `${wish.tier} ${wish.isolation} ${wish.size}`;
    const name = `s${String(id).padStart(6, '0')}`;
    const alike = wishes.get(key) ?? { ...wish, count: 0, oldest: name };
    alike.count += 1;
    if (name < alike.oldest) alike.oldest = name;
    wishes.set(key, alike);
  }
  return [...wishes.values()];
};

/** A control plane, empty at first. */
export class ModelControl {
  readonly hosts = new Map<string, ModelHost>();
  readonly sessions: ModelSession[] = [];
  readonly waiting = new Map<number, ModelSession>();
  /** Number of ended hosts by reason. */
  readonly ends = new Map<string, number>();
  readonly #time: VirtualTime;
  readonly #hooks: ControlHooks;
  readonly #warmHosts = new WarmHosts();
  readonly #livePerPool = new Map<string, number>();
  #worlds: PoolWorld[] = [];
  #registered = 0;

  constructor(time: VirtualTime, hooks: ControlHooks) {
    this.#time = time;
    this.#hooks = hooks;
  }

  liveIn(pool: string): number {
    return this.#livePerPool.get(pool) ?? 0;
  }

  setWorlds(all: PoolWorld[]): void {
    this.#worlds = all;
    this.#hooks.onChange();
  }

  open(session: OpenedSession): void {
    const opened: ModelSession = {
      ...session,
      id: this.sessions.length,
      openedAt: this.#time.now(),
      state: 'waiting',
      hostId: null,
      attempts: 0,
      waitedMs: 0,
      waitsSince: this.#time.now(),
    };
    this.sessions.push(opened);
    this.#place(opened);
    if (opened.state === 'waiting') this.#hooks.onChange();
  }

  /** Closes the session as its user; does nothing if it has lost this host. */
  close(session: ModelSession, host: ModelHost): void {
    if (session.hostId !== host.id || host.state !== 'assigned') return;
    this.#endSession(session, 'closed');
    host.sessionId = null;
    const recycles = session.keepWarm && host.uses < mostUses;
    this.#move(host, recycles ? 'recycling' : 'draining');
    if (recycles) this.#hooks.onRecycling(host);
  }

  /** Reports a host as warm; does nothing if it is neither starting nor recycling. */
  warm(host: ModelHost): void {
    if (host.state !== 'starting' && host.state !== 'recycling') return;
    this.#move(host, 'warm');
    this.#warmHosts.put(host);
    if (host.launched) this.#placeOn(host);
  }

  register(pool: string, offer: HostOffer, maxLive: number): ModelHost | undefined {
    if (this.liveIn(pool) >= maxLive) return undefined;
    this.#registered += 1;
    const times = { since: this.#time.now(), createdAt: this.#time.now() };
    const empty = { sessionId: null, versionId: null, uses: 0, launched: false };
    const host: ModelHost = {
      id: `h${this.#registered}`,
      pool,
      offer,
      state: 'starting',
      ...times,
      ...empty,
    };
    this.hosts.set(host.id, host);
    this.#count(pool, 1);
    this.#hooks.onChange();
    return host;
  }

  launched(hostId: string): void {
    const host = this.hosts.get(hostId);
    if (host === undefined || host.launched) return;
    host.launched = true;
    this.#hooks.onChange();
    if (host.state === 'warm') this.#placeOn(host);
  }

  load(hostId: string, versionId: string): void {
    const host = this.hosts.get(hostId);
    if (host?.state !== 'warm' || host.versionId !== null) return;
    this.#move(host, 'recycling');
    host.versionId = versionId;
    this.#hooks.onRecycling(host);
  }

  drain(hostId: string, ifState: HostState, reason: string): boolean {
    const host = this.hosts.get(hostId);
    if (host?.state !== ifState) return false;
    const inStateMs = this.#time.now() - host.since;
    this.#move(host, 'draining');
    this.#lose(host, inStateMs);
    this.#countEnd(reason);
    return true;
  }

  gone(hostId: string, reason: string): void {
    const host = this.hosts.get(hostId);
    if (host === undefined) return;
    if (this.#hooks.isAlive(hostId)) throw new Error(`${hostId} is said to be gone and runs`);
    if (host.state === 'warm') this.#warmHosts.remove(host);
    const wasDraining = host.state === 'draining';
    this.#lose(host, this.#time.now() - host.since);
    host.state = 'gone';
    this.hosts.delete(hostId);
    this.#count(host.pool, -1);
    if (!wasDraining) this.#countEnd(reason);
    this.#hooks.onChange();
  }

  /** Returns the pool's view; `silentMs` gives how long a host has been silent. */
  view(silentMs: (hostId: string) => number): PoolView {
    const now = this.#time.now();
    const hosts = Array.from(this.hosts.values(), (host) => viewOfHost(host, now, silentMs));
    const waiting = countWishes(this.waiting.values());
    return { revision: '', hosts, waiting, worlds: this.#worlds };
  }

  #move(host: ModelHost, to: HostState): void {
    if (!can(hostTransitions, host.state, to)) throw new Error(`${host.state} to ${to}`);
    if (host.state === 'warm') this.#warmHosts.remove(host);
    host.state = to;
    host.since = this.#time.now();
    this.#hooks.onChange();
  }

  #assign(host: ModelHost, session: ModelSession): void {
    if (session.hostId !== null) {
      throw new Error(`session ${session.id} has ${session.hostId} and is given ${host.id}`);
    }
    this.#move(host, 'assigned');
    host.sessionId = session.id;
    host.versionId = session.versionId;
    host.uses += 1;
    session.hostId = host.id;
    session.state = 'served';
    session.attempts += 1;
    session.waitedMs = Math.max(session.waitedMs, this.#time.now() - session.waitsSince);
    this.waiting.delete(session.id);
    this.#hooks.onAssigned(host, session);
  }

  #place(session: ModelSession): void {
    const host = this.#warmHosts.find(session);
    if (host === undefined) this.waiting.set(session.id, session);
    else this.#assign(host, session);
  }

  #placeOn(host: ModelHost): void {
    for (const session of this.waiting.values()) {
      const isHeld = host.versionId === null || host.versionId === session.versionId;
      if (!isHeld || !placeable(host, session)) continue;
      this.#assign(host, session);
      return;
    }
  }

  #endSession(session: ModelSession, state: 'closed' | 'failed'): void {
    session.state = state;
    session.hostId = null;
    this.waiting.delete(session.id);
  }

  /**
   * Takes a host out of service. Its session waits for another host a few times, unless it was in
   * use.
   */
  #lose(host: ModelHost, assignedForMs: number): void {
    const session = host.sessionId === null ? undefined : this.sessions[host.sessionId];
    host.sessionId = null;
    if (session === undefined) return;
    if (assignedForMs > loadMs || session.attempts >= mostAttempts) {
      this.#endSession(session, 'failed');
      return;
    }
    session.hostId = null;
    session.state = 'waiting';
    session.waitsSince = this.#time.now();
    this.#place(session);
  }

  #count(pool: string, change: number): void {
    this.#livePerPool.set(pool, this.liveIn(pool) + change);
  }

  #countEnd(reason: string): void {
    this.ends.set(reason, (this.ends.get(reason) ?? 0) + 1);
  }
}
