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

type Answer = (request: Request) => unknown;

/** Lease of the pool: the orchestrator that leads holds it, and each new lease has a later epoch. */
class PoolLease {
  #lease: { holder: string; epoch: number; endsAt: number } | undefined;
  #epochs = 0;

  holder(): string | undefined {
    return this.#lease?.holder;
  }

  acquire({ holder, ttlMs, epoch, takeOver = true }: LeaseQuestion) {
    const lease = this.#lease;
    const isOwn = lease?.holder === holder && (epoch ?? lease.epoch) === lease.epoch;
    const isFree = lease === undefined || lease.endsAt <= Date.now() || (isOwn && takeOver);
    if (epoch === undefined ? !isFree : !isOwn) return { held: false };
    if (ttlMs === 0) {
      this.#lease = undefined;
      return { held: false };
    }
    const held = this.#give(holder, ttlMs, epoch);
    return { held: true, epoch: held.epoch };
  }

  /** Gives the lease to another orchestrator for good. */
  depose(): void {
    this.#give('another', Number.POSITIVE_INFINITY);
  }

  /** Throws `forbidden` unless this is the current lease. */
  expectCurrent({ holder, epoch }: Lease): void {
    if (holder === this.#lease?.holder && epoch === this.#lease.epoch) return;
    throw new AppError('forbidden', `${holder} does not lead any more`);
  }

  #give(holder: string, ttlMs: number, epoch?: number): { epoch: number } {
    if (epoch === undefined) this.#epochs += 1;
    this.#lease = { holder, epoch: epoch ?? this.#epochs, endsAt: Date.now() + ttlMs };
    return this.#lease;
  }
}

const viewOf = (host: MemoryHost): PoolView['hosts'][number] => ({
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
});

/** A pool, empty at first. */
export class MemoryPool {
  client: Client;
  readonly #hosts = new Map<string, MemoryHost>();
  readonly #lease = new PoolLease();
  readonly #answers: Record<string, Answer> = {
    observePool: (request) => this.#observe(request),
    acquireLease: ({ body = {} }) => this.#lease.acquire(body as LeaseQuestion),
    registerHost: ({ body = {} }) => this.#register(body as Registration),
    publishPools: ({ body = {} }) => {
      this.#published = body.pools as PublishedPool[];
      return { unknownWorlds: [] };
    },
    reportLaunched: (request) => this.#reportLaunched(request),
    drainHost: (request) => this.#drain(request),
    reportGone: ({ params, body = {} }) => this.#end(this.host(params?.hostId), 'gone', body),
    reap: () => {
      this.#reaps += 1;
      return { ended: [] };
    },
  };
  #revision = 0;
  #waiting = 0;
  #isDown = false;
  #intentsRefused: AppError | undefined;
  #reaps = 0;
  #published: PublishedPool[] = [];
  #changed = Promise.withResolvers<void>();

  constructor() {
    const send = (shape: { id: string }, request: Request) => this.#send(shape, request);
    this.client = { baseUrl: 'memory:', send: send as unknown as Client['send'] };
  }

  /** Returns every host that was ever registered, gone ones included. */
  hosts(): MemoryHost[] {
    return [...this.#hosts.values()];
  }

  live(): MemoryHost[] {
    return this.hosts().filter(({ state }) => state !== 'gone');
  }

  host(id: string | undefined): MemoryHost {
    const host = this.#hosts.get(id ?? '');
    if (host === undefined) throw new AppError('not_found', `no host ${id}`);
    return host;
  }

  /** Moves a host to a state as its own messages or a session would. */
  move(id: string, to: HostState): void {
    const host = this.host(id);
    this.#step(host, to);
    host.heardAt = Date.now();
  }

  setWaiting(sessions: number): void {
    this.#waiting = sessions;
    this.#change();
  }

  /** Makes every request fail as `unavailable` from now on, or ends that. */
  setDown(isDown: boolean): void {
    this.#isDown = isDown;
  }

  /** Makes every intent fail with this error from now on; undefined ends that. */
  refuseIntents(error: AppError | undefined): void {
    this.#intentsRefused = error;
  }

  holder(): string | undefined {
    return this.#lease.holder();
  }

  /** Gives the lease to another orchestrator for good. */
  depose(): void {
    this.#lease.depose();
  }

  reaps(): number {
    return this.#reaps;
  }

  /** Returns the pools as last published. */
  published(): PublishedPool[] {
    return this.#published;
  }

  async #send(shape: { id: string }, request: Request) {
    if (this.#isDown) throw new AppError('unavailable', 'the control plane is down');
    const lease = request.body?.lease as Lease | undefined;
    if (lease !== undefined) this.#lease.expectCurrent(lease);
    const answer = this.#answers[shape.id];
    if (answer === undefined) throw new AppError('internal', `${shape.id} is not of the pool API`);
    return { status: 200, body: await answer(request) };
  }

  /** Returns the view; a request that names the current revision waits for a change. */
  async #observe({ query = {}, signal }: Request): Promise<PoolView> {
    const endsAt = Date.now() + (query.hold ?? 0) * 1000;
    while (query.after === String(this.#revision) && Date.now() < endsAt) {
      const stopped = Promise.withResolvers<void>();
      const over = setTimeout(stopped.resolve, endsAt - Date.now());
      signal?.addEventListener('abort', () => stopped.resolve(), { once: true });
      await Promise.race([this.#changed.promise, stopped.promise]);
      clearTimeout(over);
      signal?.throwIfAborted();
    }
    const wish = { tier: 'standard', isolation: null, size: 'standard' } as const;
    const hosts = this.live().filter((host) => host.installation === query.installation);
    return {
      revision: String(this.#revision),
      worlds: [],
      waiting: this.#waiting === 0 ? [] : [{ ...wish, count: this.#waiting }],
      hosts: hosts.map(viewOf),
    };
  }

  #register({ installation, pool, maxLive }: Registration) {
    if (this.#intentsRefused !== undefined) throw this.#intentsRefused;
    if (this.live().length >= maxLive) {
      throw new AppError('exhausted', `${maxLive} hosts are live`, { detail: { full: 'pool' } });
    }
    const id = `hst-${this.#hosts.size + 1}`;
    const times = { since: Date.now(), heardAt: null };
    const nothing = { address: undefined, end: undefined, detail: undefined };
    const host = { id, installation, pool, launched: false, ...times, ...nothing };
    this.#hosts.set(id, { ...host, state: 'starting' });
    this.#change();
    return { hostId: id, generation: 0, token: `token-${id}` };
  }

  #reportLaunched({ params, body = {} }: Request) {
    const host = this.host(params?.hostId);
    if (host.state === 'gone') throw new AppError('conflict', `host ${host.id} is gone`);
    host.launched = true;
    host.address = (body.address as string | null | undefined) ?? undefined;
    this.#change();
    return {};
  }

  #drain({ params, body = {} }: Request) {
    const host = this.host(params?.hostId);
    if (body.ifState !== undefined && body.ifState !== host.state) {
      throw new AppError('conflict', `host ${host.id} is ${host.state} by now`);
    }
    return this.#end(host, 'draining', body);
  }

  #end(host: MemoryHost, to: HostState, { reason, detail }: Record<string, unknown>) {
    this.#step(host, to);
    host.end ??= String(reason);
    host.detail ??= detail as string | undefined;
    return {};
  }

  #step(host: MemoryHost, to: HostState): void {
    if (!can(hostTransitions, host.state, to)) {
      throw new AppError('conflict', `host ${host.id} is ${host.state}, not to be ${to}`);
    }
    host.state = to;
    host.since = Date.now();
    this.#change();
  }

  #change(): void {
    this.#revision += 1;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
