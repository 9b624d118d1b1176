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
/** A session that has been on its host for this long is in use. */
const loadMs = 1_000;

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

/** Index of warm hosts by the version they hold, in the order in which they became warm. */
const createShelf = () => {
  const fresh = new Set<ModelHost>();
  const holding = new Map<string, Set<ModelHost>>();
  return {
    put(host: ModelHost): void {
      if (host.versionId === null) fresh.add(host);
      else {
        const alike = holding.get(host.versionId) ?? new Set();
        holding.set(host.versionId, alike.add(host));
      }
    },
    remove(host: ModelHost): void {
      fresh.delete(host);
      if (host.versionId !== null) holding.get(host.versionId)?.delete(host);
    },
    fresh,
    holding: (versionId: string): Iterable<ModelHost> => holding.get(versionId) ?? [],
  };
};

export type ModelControl = ReturnType<typeof createModelControl>;

/** Creates an empty control plane. */
export const createModelControl = (time: VirtualTime, hooks: ControlHooks) => {
  const hosts = new Map<string, ModelHost>();
  const sessions: ModelSession[] = [];
  const waiting = new Map<number, ModelSession>();
  const shelf = createShelf();
  const livePerPool = new Map<string, number>();
  const ends = new Map<string, number>();
  let worlds: PoolWorld[] = [];
  let registered = 0;

  const count = (pool: string, change: number): void => {
    livePerPool.set(pool, (livePerPool.get(pool) ?? 0) + change);
  };
  const move = (host: ModelHost, to: HostState): void => {
    if (!can(hostTransitions, host.state, to)) throw new Error(`${host.state} to ${to}`);
    if (host.state === 'warm') shelf.remove(host);
    host.state = to;
    host.since = time.now();
    hooks.onChange();
  };
  const assign = (host: ModelHost, session: ModelSession): void => {
    if (session.hostId !== null) {
      throw new Error(`session ${session.id} has ${session.hostId} and is given ${host.id}`);
    }
    move(host, 'assigned');
    host.sessionId = session.id;
    host.versionId = session.versionId;
    host.uses += 1;
    session.hostId = host.id;
    session.state = 'served';
    session.attempts += 1;
    session.waitedMs = Math.max(session.waitedMs, time.now() - session.waitsSince);
    waiting.delete(session.id);
    hooks.onAssigned(host, session);
  };
  const placeable = (host: ModelHost, { wish }: ModelSession): boolean =>
    host.launched && suits(host.offer, wish);
  const findHost = (session: ModelSession): ModelHost | undefined => {
    const held = [...shelf.holding(session.versionId)].filter((host) => placeable(host, session));
    const loaded =
      held.find((host) => host.uses === 0) ?? (session.reuseWarm ? held[0] : undefined);
    if (loaded !== undefined) return loaded;
    for (const host of shelf.fresh) if (placeable(host, session)) return host;
    return held[0];
  };
  const place = (session: ModelSession): void => {
    const host = findHost(session);
    if (host === undefined) waiting.set(session.id, session);
    else assign(host, session);
  };
  const placeOn = (host: ModelHost): void => {
    for (const session of waiting.values()) {
      const isHeld = host.versionId === null || host.versionId === session.versionId;
      if (!isHeld || !placeable(host, session)) continue;
      assign(host, session);
      return;
    }
  };
  const endSession = (session: ModelSession, state: 'closed' | 'failed'): void => {
    session.state = state;
    session.hostId = null;
    waiting.delete(session.id);
  };
  /**
   * Takes a host out of service. Its session waits for another host a few times, unless it was in
   * use.
   */
  const lose = (host: ModelHost, assignedForMs: number): void => {
    const session = host.sessionId === null ? undefined : sessions[host.sessionId];
    host.sessionId = null;
    if (session === undefined) return;
    if (assignedForMs > loadMs || session.attempts >= mostAttempts) {
      endSession(session, 'failed');
      return;
    }
    session.hostId = null;
    session.state = 'waiting';
    session.waitsSince = time.now();
    place(session);
  };

  return {
    hosts,
    sessions,
    waiting,
    /** Number of ended hosts by reason. */
    ends,
    liveIn: (pool: string): number => livePerPool.get(pool) ?? 0,
    setWorlds(all: PoolWorld[]): void {
      worlds = all;
      hooks.onChange();
    },
    open(session: Pick<ModelSession, 'wish' | 'versionId' | 'reuseWarm' | 'keepWarm' | 'lifeMs'>) {
      const opened: ModelSession = {
        ...session,
        id: sessions.length,
        openedAt: time.now(),
        state: 'waiting',
        hostId: null,
        attempts: 0,
        waitedMs: 0,
        waitsSince: time.now(),
      };
      sessions.push(opened);
      place(opened);
      if (opened.state === 'waiting') hooks.onChange();
    },
    /** Closes the session as its user; does nothing if it has lost this host. */
    close(session: ModelSession, host: ModelHost): void {
      if (session.hostId !== host.id || host.state !== 'assigned') return;
      endSession(session, 'closed');
      host.sessionId = null;
      const recycles = session.keepWarm && host.uses < mostUses;
      move(host, recycles ? 'recycling' : 'draining');
      if (recycles) hooks.onRecycling(host);
    },
    /** Reports a host as warm; does nothing if it is neither starting nor recycling. */
    warm(host: ModelHost): void {
      if (host.state !== 'starting' && host.state !== 'recycling') return;
      move(host, 'warm');
      shelf.put(host);
      if (host.launched) placeOn(host);
    },
    register(pool: string, offer: HostOffer, maxLive: number): ModelHost | undefined {
      if ((livePerPool.get(pool) ?? 0) >= maxLive) return undefined;
      registered += 1;
      const times = { since: time.now(), createdAt: time.now() };
      const empty = { sessionId: null, versionId: null, uses: 0, launched: false };
      const host: ModelHost = {
        id: `h${registered}`,
        pool,
        offer,
        state: 'starting',
        ...times,
        ...empty,
      };
      hosts.set(host.id, host);
      count(pool, 1);
      hooks.onChange();
      return host;
    },
    launched(hostId: string): void {
      const host = hosts.get(hostId);
      if (host === undefined || host.launched) return;
      host.launched = true;
      hooks.onChange();
      if (host.state === 'warm') placeOn(host);
    },
    load(hostId: string, versionId: string): void {
      const host = hosts.get(hostId);
      if (host?.state !== 'warm' || host.versionId !== null) return;
      move(host, 'recycling');
      host.versionId = versionId;
      hooks.onRecycling(host);
    },
    drain(hostId: string, ifState: HostState, reason: string): boolean {
      const host = hosts.get(hostId);
      if (host?.state !== ifState) return false;
      const inStateMs = time.now() - host.since;
      move(host, 'draining');
      lose(host, inStateMs);
      ends.set(reason, (ends.get(reason) ?? 0) + 1);
      return true;
    },
    gone(hostId: string, reason: string): void {
      const host = hosts.get(hostId);
      if (host === undefined) return;
      if (hooks.isAlive(hostId)) throw new Error(`${hostId} is said to be gone and runs`);
      if (host.state === 'warm') shelf.remove(host);
      const wasDraining = host.state === 'draining';
      lose(host, time.now() - host.since);
      host.state = 'gone';
      hosts.delete(hostId);
      count(host.pool, -1);
      if (!wasDraining) ends.set(reason, (ends.get(reason) ?? 0) + 1);
      hooks.onChange();
    },
    /** Returns the pool's view; `silentMs` gives how long a host has been silent. */
    view(silentMs: (hostId: string) => number): PoolView {
      const now = time.now();
      const rows: PoolHost[] = [];
      for (const host of hosts.values()) {
        rows.push({
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
      }
      const wishes = new Map<string, Required<PoolView['waiting'][number]>>();
      for (const { id, wish } of waiting.values()) {
        const key = `${wish.tier} ${wish.isolation} ${wish.size}`;
        const name = `s${String(id).padStart(6, '0')}`;
        const alike = wishes.get(key) ?? { ...wish, count: 0, oldest: name };
        alike.count += 1;
        if (name < alike.oldest) alike.oldest = name;
        wishes.set(key, alike);
      }
      return { revision: '', hosts: rows, waiting: [...wishes.values()], worlds };
    },
  };
};
