/**
 * The pool API in memory, behind the `Client` interface, for tests of the orchestrator alone. It keeps the contract's
 * rules (intents, states, leases, conditional drains) and answers refusals as the control plane does. A test moves
 * hosts and sessions by hand.
 */
import { AppError } from '#domain/error.ts';
import { type HostState, hostTransitions } from '#domain/host.ts';
import { can } from '#domain/transitions.ts';
import type { Client } from '#wire/client.ts';
import type { Lease, PoolView, PublishedPool } from '#wire/pool-api/operations.ts';

export type MemoryHost = {
  id: string;
  installation: string;
  pool: string;
  state: HostState;
  since: number;
  /** Time of its last message; null before the first. */
  heardAt: number | null;
  launched: boolean;
  address: string | undefined;
  end: string | undefined;
  detail: string | undefined;
};

type Request = {
  params?: { hostId?: string };
  query?: { installation?: string; after?: string; hold?: number };
  body?: Record<string, unknown>;
  signal?: AbortSignal;
};

type LeaseQuestion = { holder: string; ttlMs: number; epoch?: number; takeOver?: boolean };
type Registration = { installation: string; pool: string; maxLive: number };

export type MemoryPool = {
  client: Client;
  /** Returns every host that ever was, gone ones included. */
  hosts(): MemoryHost[];
  live(): MemoryHost[];
  host(id: string): MemoryHost;
  /** Moves a host to a state as its own messages or a session would. */
  move(id: string, to: HostState): void;
  setWaiting(sessions: number): void;
  /** While set, every request is answered `unavailable`. */
  setDown(down: boolean): void;
  /** While set, every intent is refused with this error. */
  refuseIntents(error: AppError | undefined): void;
  holder(): string | undefined;
  /** Gives the lease permanently to another orchestrator. */
  depose(): void;
  reaps(): number;
  /** Returns the pools as last published. */
  published(): PublishedPool[];
};

/** Creates an empty pool. */
export const createMemoryPool = (): MemoryPool => {
  const hosts = new Map<string, MemoryHost>();
  let revision = 0;
  let waiting = 0;
  let down = false;
  let intentsRefused: AppError | undefined;
  let reaps = 0;
  let published: PublishedPool[] = [];
  let lease: { holder: string; epoch: number; endsAt: number } | undefined;
  let epochs = 0;
  let changed = Promise.withResolvers<void>();

  const change = (): void => {
    revision += 1;
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const find = (id: string | undefined): MemoryHost => {
    const host = hosts.get(id ?? '');
    if (host === undefined) throw new AppError('not_found', `no host ${id}`);
    return host;
  };
  const live = (): MemoryHost[] => [...hosts.values()].filter(({ state }) => state !== 'gone');
  const step = (host: MemoryHost, to: HostState): void => {
    if (!can(hostTransitions, host.state, to)) {
      throw new AppError('conflict', `host ${host.id} is ${host.state}, not to be ${to}`);
    }
    host.state = to;
    host.since = Date.now();
    change();
  };
  const end = (host: MemoryHost, to: HostState, body: Record<string, unknown>): void => {
    step(host, to);
    host.end ??= String(body.reason);
    host.detail ??= body.detail as string | undefined;
  };

  const view = (installation: string | undefined): PoolView => ({
    revision: String(revision),
    worlds: [],
    waiting:
      waiting === 0
        ? []
        : [{ tier: 'standard', isolation: null, size: 'standard', count: waiting }],
    hosts: live()
      .filter((host) => host.installation === installation)
      .map((host) => ({
        id: host.id,
        pool: host.pool,
        state: host.state,
        sessionId: null,
        stateAgeMs: Date.now() - host.since,
        silentMs: host.heardAt === null ? null : Date.now() - host.heardAt,
        ageMs: Date.now() - host.since,
        launched: host.launched,
        versionId: null,
        uses: 0,
        address: host.address ?? null,
      })),
  });

  const answers: Record<string, (request: Request) => unknown> = {
    async observePool({ query = {}, signal }) {
      const endsAt = Date.now() + (query.hold ?? 0) * 1000;
      while (query.after === String(revision) && Date.now() < endsAt) {
        const stopped = Promise.withResolvers<void>();
        const over = setTimeout(stopped.resolve, endsAt - Date.now());
        signal?.addEventListener('abort', () => stopped.resolve(), { once: true });
        await Promise.race([changed.promise, stopped.promise]);
        clearTimeout(over);
        signal?.throwIfAborted();
      }
      return view(query.installation);
    },
    acquireLease({ body = {} }) {
      const { holder, ttlMs, epoch, takeOver = true } = body as LeaseQuestion;
      const isOwn = lease?.holder === holder && (epoch ?? lease.epoch) === lease.epoch;
      const isFree = lease === undefined || lease.endsAt <= Date.now() || (isOwn && takeOver);
      if (epoch === undefined ? !isFree : !isOwn) return { held: false };
      if (ttlMs === 0) {
        lease = undefined;
        return { held: false };
      }
      if (epoch === undefined) epochs += 1;
      lease = { holder, epoch: epoch ?? epochs, endsAt: Date.now() + ttlMs };
      return { held: true, epoch: lease.epoch };
    },
    registerHost({ body = {} }) {
      if (intentsRefused !== undefined) throw intentsRefused;
      const { installation, pool, maxLive } = body as Registration;
      if (live().length >= maxLive)
        throw new AppError('exhausted', `${maxLive} hosts are live`, { detail: { full: 'pool' } });
      const id = `hst-${hosts.size + 1}`;
      const times = { since: Date.now(), heardAt: null };
      const nothing = { address: undefined, end: undefined, detail: undefined };
      const host = { id, installation, pool, launched: false, ...times, ...nothing };
      hosts.set(id, { ...host, state: 'starting' });
      change();
      return { hostId: id, generation: 0, token: `token-${id}` };
    },
    publishPools({ body = {} }) {
      published = body.pools as PublishedPool[];
      return { unknownWorlds: [] };
    },
    reportLaunched({ params, body = {} }) {
      const host = find(params?.hostId);
      if (host.state === 'gone') throw new AppError('conflict', `host ${host.id} is gone`);
      host.launched = true;
      host.address = (body.address as string | null | undefined) ?? undefined;
      change();
      return {};
    },
    drainHost({ params, body = {} }) {
      const host = find(params?.hostId);
      if (body.ifState !== undefined && body.ifState !== host.state) {
        throw new AppError('conflict', `host ${host.id} is ${host.state} by now`);
      }
      end(host, 'draining', body);
      return {};
    },
    reportGone({ params, body = {} }) {
      end(find(params?.hostId), 'gone', body);
      return {};
    },
    reap() {
      reaps += 1;
      return { ended: [] };
    },
  };

  const send = async (shape: { id: string }, request: Request) => {
    if (down) throw new AppError('unavailable', 'the control plane is down');
    const named = request.body?.lease as Lease | undefined;
    if (named !== undefined && (named.holder !== lease?.holder || named.epoch !== lease.epoch)) {
      throw new AppError('forbidden', `${named.holder} does not lead any more`);
    }
    const answer = answers[shape.id];
    if (answer === undefined) throw new AppError('internal', `${shape.id} is not of the pool API`);
    return { status: 200, body: await answer(request) };
  };

  return {
    client: { baseUrl: 'memory:', send: send as unknown as Client['send'] },
    hosts: () => [...hosts.values()],
    live,
    host: find,
    move(id, to) {
      step(find(id), to);
      find(id).heardAt = Date.now();
    },
    setWaiting(sessions) {
      waiting = sessions;
      change();
    },
    setDown(isDown) {
      down = isDown;
    },
    refuseIntents(error) {
      intentsRefused = error;
    },
    holder: () => lease?.holder,
    depose() {
      epochs += 1;
      lease = { holder: 'another', epoch: epochs, endsAt: Number.POSITIVE_INFINITY };
    },
    reaps: () => reaps,
    published: () => published,
  };
};
