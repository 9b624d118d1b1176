/**
 * Lifecycle of a host. The host reports that it is warm, and waits for a session, or for an order to load a world ahead
 * of a session. It serves the session to its end, and then starts over or stops. It has only one request to the control
 * plane in flight at a time.
 */
import { describeError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { isRefused } from '#hosting/link.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { Assignment, Holding, LoadDirective } from '#wire/host-api/assignment.ts';
import {
  type HostDirective,
  pollHost,
  reportClosed,
  reportFailed,
  reportUnloaded,
  reportWarm,
  type SessionDirective,
} from '#wire/host-api/operations.ts';
import type { Answer } from '#wire/operation.ts';
import { keepMark } from '../ledger/mark.ts';
import type { Proof } from '../proof/proof.ts';
import type { WorldLoader } from '../session/load-world.ts';
import { assertImports, openSession, recycleSession } from '../session/open-session.ts';
import type { Serving } from '../session/serving.ts';
import type { Session } from '../session/session.ts';
import { type LastEntries, LedgerDelivery } from './deliver-ledger.ts';
import { type ServeOptions, sendReady, serveCalls } from './serve-calls.ts';

export type LifecycleOptions = ServeOptions & {
  /** Address of the API server, which the host reports; undefined if the host need not report it. */
  address: string | undefined;
  /** Replaces the host's token by another token. */
  takeToken(token: string): void;
  serving: Serving;
  worlds: WorldLoader;
  proof: Proof;
  /** File that stores the number of the ledger's last entry; see `HostConfig.ledgerMark`. */
  ledgerMark?: string | undefined;
};

/** Next directive for the host, which may be empty; `exit` if the host has nothing left to do. */
type Next = HostDirective | 'exit';

const hold = limits.pollMs / 1000;

/**
 * Returns the message of an error, cut to the limit, because names and rows of a world can make it arbitrarily long.
 */
const reasonOf = (error: unknown): string => describeError(error).slice(0, limits.messageChars);

const sendWarm = async (
  { address, link, identity, stopping: signal, takeToken }: LifecycleOptions,
  state: { holding?: Holding; found?: string[] } = {},
): Promise<HostDirective> => {
  const { hostId, generation } = identity;
  // The token from the launch may still be in a file, so the first report replaces it by another.
  const first = { renews: true, ...(address === undefined ? {} : { address }) };
  const body = { generation, ...(state.holding === undefined ? first : { ...state, hold }) };
  const wait = { signal, ...(state.holding === undefined ? {} : { holdSeconds: hold }) };
  const answer = await link.send(reportWarm, { params: { hostId }, body }, wait);
  const { token, ...directive } = answer;
  if (token !== undefined) takeToken(token);
  return directive;
};

/**
 * Session that is being served, with the time at which its load ended and the duration of the load, both in
 * milliseconds.
 */
type Begun = { session: Session; loadedAt: number; loadMs: number };

/** Loads a session and begins to serve it. If that fails, reports the reason and returns undefined. */
const begin = async (
  { link, log, serving, identity, stopping: signal, worlds }: LifecycleOptions,
  assignment: Assignment,
): Promise<Begun | undefined> => {
  const { sessionId, worldSlug } = assignment;
  const startedAt = performance.now();
  try {
    const session = await openSession(worlds, assignment);
    await assertImports(session);
    serving.begin(session);
    const loadedAt = performance.now();
    const loadMs = loadedAt - startedAt;
    log.info({ world: worldSlug, loadMs }, 'serving');
    return { session, loadedAt, loadMs };
  } catch (error) {
    signal.throwIfAborted();
    log.error({ err: error }, 'the session cannot be loaded');
    const code = error instanceof StoreRefusal ? 'seed_refused' : 'load_failed';
    const body = { generation: identity.generation, code, message: reasonOf(error) };
    await link.send(reportFailed, { params: { sessionId }, body }, { signal });
    return undefined;
  }
};

/** Reports the session ready and serves its calls. Resolves with the result of `serveCalls`. */
const serveReady = async (
  options: LifecycleOptions,
  { session, loadedAt, loadMs }: Begun,
): Promise<SessionDirective['close']> => {
  const load = { name: 'load', agoMs: performance.now() - loadedAt, tookMs: loadMs };
  return serveCalls(options, session, await sendReady(options, session, [load]));
};

type Closed = Answer<typeof reportClosed>['body'];

/** Result of recycling the host, which is reported to the control plane. */
type Recycled = Awaited<ReturnType<typeof recycleSession>>;

/** Contents of the report that a session has ended. */
type Ending = {
  /** Generation in which the session was served. */
  generation: number;
  /** Last entries of the ledger if they are few; undefined if they must be delivered before the report. */
  last: LastEntries | undefined;
  /** Result of recycling; undefined if the host has not been recycled yet. */
  recycled: Recycled | undefined;
};

/**
 * Reports a session closed. If the last ledger entries are few, the report contains them; otherwise they are delivered
 * first.
 */
const sendClosed = async (
  { link, stopping: signal }: LifecycleOptions,
  { id: sessionId }: Session,
  delivery: LedgerDelivery,
  { generation, last, recycled }: Ending,
): Promise<Closed> => {
  const send = (entries: readonly string[]): Promise<Closed> => {
    const lost = delivery.lost();
    const body = {
      generation,
      ...(entries.length === 0 ? {} : { entries: [...entries] }),
      ...(lost === undefined ? {} : { lost }),
      ...(recycled === undefined ? {} : { recycled, hold }),
    };
    const wait = { signal, ...(recycled === undefined ? {} : { holdSeconds: hold }) };
    return link.send(reportClosed, { params: { sessionId }, body }, wait);
  };
  const deliverAndSend = async (): Promise<Closed> => {
    await delivery.finish({ isStopping: false });
    return send([]);
  };
  if (last === undefined) return deliverAndSend();
  try {
    const closed = await send(last.entries);
    if (closed.taken === true) last.onAccepted();
    return closed;
  } catch (error) {
    // The control plane rejects some entry. `delivery` finds out which, and drops it.
    if (!isRefused(error)) throw error;
    return deliverAndSend();
  }
};

const recycle = async (options: LifecycleOptions, session: Session): Promise<Recycled> => {
  const recycled = await recycleSession(session, options);
  const { found } = recycled;
  if (found.length > 0) options.log.warn({ found }, 'the session left something in this host');
  return recycled;
};

/** Returns true if recycling is quick because no worker has to be restarted. */
const isSoonRecycled = ({ world, links }: Session): boolean =>
  !world.code.isReached() && links.size === 0;

/**
 * Recycles the host before the report. If that fails, returns undefined, and the session is reported closed without a
 * result of recycling.
 */
const recycleAhead = async (
  options: LifecycleOptions,
  session: Session,
): Promise<Recycled | undefined> => {
  try {
    const recycled = await recycle(options, session);
    // Heartbeats go on while the report is in flight, and must no longer name the ended session and generation.
    options.identity.generation += 1;
    options.identity.sessionId = undefined;
    return recycled;
  } catch (error) {
    options.log.error({ err: error }, 'the host cannot be recycled');
    return undefined;
  }
};

/**
 * Ends a session that is no longer served: reports it closed and recycles the host. If recycling is quick, and the
 * control plane accepts its result in the report of the closed session, the host is recycled first.
 */
const close = async (
  options: LifecycleOptions,
  session: Session,
  delivery: LedgerDelivery,
  { keepWarm, together = false }: NonNullable<SessionDirective['close']>,
): Promise<Next> => {
  const { log, identity } = options;
  const { generation } = identity;
  // A host that will stop delivers its ledger first, because there may be no time for it afterwards.
  const last = keepWarm ? await delivery.takeLast() : undefined;
  const isAhead = together && last !== undefined && isSoonRecycled(session);
  const recycled = isAhead ? await recycleAhead(options, session) : undefined;
  const closed = await sendClosed(options, session, delivery, { generation, last, recycled });
  const { generation: present, next, taken, ...directive } = closed;
  await delivery.finish({ isStopping: false });
  identity.generation = present;
  log.info({ sessionId: session.id, next }, 'closed');
  identity.sessionId = undefined;
  if (next === 'exit') return 'exit';
  if (next === 'warm') return directive;
  return sendWarm(options, recycled ?? (await recycle(options, session)));
};

const serve = async (options: LifecycleOptions, assignment: Assignment): Promise<Next> => {
  const { identity } = options;
  identity.generation = assignment.generation;
  identity.sessionId = assignment.sessionId;
  const begun = await begin(options, assignment);
  if (begun === undefined) return 'exit';
  const { session } = begun;
  const delivery = new LedgerDelivery(options, session);
  const mark = keepMark(options, session);
  try {
    const directive = await serveReady(options, begun);
    await options.serving.end();
    if (directive === undefined) return 'exit';
    return await close(options, session, delivery, directive);
  } finally {
    await delivery.finish({ isStopping: true });
    mark.close();
  }
};

/** Loads a version of a world before any session needs it. If that fails, reports the reason and returns `exit`. */
const loadAhead = async (options: LifecycleOptions, order: LoadDirective): Promise<Next> => {
  const { link, log, identity, stopping: signal, worlds } = options;
  const { generation } = order;
  const startedAt = performance.now();
  identity.generation = generation;
  let holding: Holding;
  try {
    const { bundle, baseDigest } = await worlds.load(order);
    holding = { bundle, stateDigest: baseDigest };
  } catch (error) {
    signal.throwIfAborted();
    log.error({ err: error, bundle: order.bundle }, 'the version cannot be loaded');
    const params = { hostId: identity.hostId };
    const body = { generation, message: reasonOf(error) };
    await link.send(reportUnloaded, { params, body }, { signal });
    return 'exit';
  }
  log.info(
    { bundle: order.bundle, loadMs: performance.now() - startedAt },
    'loaded a world ahead of its session',
  );
  return sendWarm(options, { holding });
};

const poll = ({ link, identity, stopping: signal }: LifecycleOptions): Promise<HostDirective> => {
  const { hostId, generation } = identity;
  const input = { params: { hostId }, body: { generation, hold } };
  return link.send(pollHost, input, { signal, holdSeconds: hold });
};

const follow = async (options: LifecycleOptions, directive: HostDirective): Promise<Next> => {
  const { assignment, load } = directive;
  if (load !== undefined) return loadAhead(options, load);
  return assignment === undefined ? poll(options) : serve(options, assignment);
};

const runToEnd = async (options: LifecycleOptions): Promise<void> => {
  const { log, stopping: signal } = options;
  let next: Next = await sendWarm(options);
  log.info({ sinceStartMs: performance.now() }, 'warm');
  while (next !== 'exit' && next.drain !== true && !signal.aborted) {
    next = await follow(options, next);
  }
};

/**
 * Runs until the host is drained, its session has ended and no other session follows, or `stopping` aborts. If the
 * control plane rejects the host, throws the error with which it did so. Nothing is served afterwards.
 */
export const runLifecycle = async (options: LifecycleOptions): Promise<void> => {
  try {
    await runToEnd(options);
  } catch (error) {
    if (!options.stopping.aborted) throw error;
  } finally {
    await options.serving.end();
  }
};
