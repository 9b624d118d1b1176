/**
 * The lifecycle of a host: reports that it is warm, waits for a session (or for a world to load before there is
 * one), serves it to its end, and begins again or stops. It holds one request to the control plane at a
 * time.
 */
import { describeError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { StoreRefusal } from '#store/refusal.ts';
import {
  type Assignment,
  type Holding,
  type LoadDirective,
  pollHost,
  reportClosed,
  reportFailed,
  reportReady,
  reportUnloaded,
  reportWarm,
  type SessionDirective,
} from '#wire/host-api/operations.ts';
import type { Proof } from '../proof/proof.ts';
import type { WorldLoader } from '../session/load-world.ts';
import { openSession, recycleSession } from '../session/open-session.ts';
import type { Serving } from '../session/serving.ts';
import type { Session } from '../session/session.ts';
import { startLedgerDelivery } from './deliver-ledger.ts';
import { type ServeOptions, serveCalls } from './serve-calls.ts';

export type LifecycleOptions = ServeOptions & {
  /** Address of the API server, when the host is to tell it. */
  address: string | undefined;
  /** Speaks with another token from now on. */
  takeToken(token: string): void;
  serving: Serving;
  worlds: WorldLoader;
  proof: Proof;
};

/** Whether the host waits for another session, or has nothing left to do. */
type Next = 'wait' | 'exit';

const hold = limits.pollMs / 1000;

/** An error in words, cut: a world's own names and rows may make it of any length. */
const reasonOf = (error: unknown): string => describeError(error).slice(0, limits.messageChars);

const tellWarm = async (
  { address, link, identity, stopping: signal, takeToken }: LifecycleOptions,
  told: { holding?: Holding; found?: string[] } = {},
): Promise<void> => {
  const { hostId, generation } = identity;
  const body = {
    generation,
    ...told,
    ...(address === undefined ? {} : { address }),
    // What it was launched with may lie in a file: from its first report on it has another token.
    ...(told.holding === undefined ? { renews: true } : {}),
  };
  const { token } = await link.send(reportWarm, { params: { hostId }, body }, { signal });
  if (token !== undefined) takeToken(token);
};

/** A session that is served, with when its load ended and how long it took, in milliseconds. */
type Begun = { session: Session; loadedAt: number; loadMs: number };

/** Loads and begins to serve; undefined, with the reason told, when that cannot be done. */
const begin = async (
  { link, log, serving, identity, stopping: signal, worlds }: LifecycleOptions,
  assignment: Assignment,
): Promise<Begun | undefined> => {
  const { sessionId, worldSlug } = assignment;
  const startedAt = performance.now();
  try {
    const session = await openSession(worlds, assignment);
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

const tellReady = (
  { link, identity, stopping: signal }: LifecycleOptions,
  { session: { id: sessionId, world }, loadedAt, loadMs }: Begun,
): Promise<SessionDirective> => {
  const holding = { bundle: world.bundle, stateDigest: world.baseDigest };
  const load = { name: 'load', agoMs: performance.now() - loadedAt, tookMs: loadMs };
  const body = { generation: identity.generation, holding, steps: [load] };
  return link.send(reportReady, { params: { sessionId }, body }, { signal });
};

/** Ends a session that is served no more: it is reported closed, then what it left is removed. */
const close = async (options: LifecycleOptions, session: Session): Promise<Next> => {
  const { link, log, identity, stopping: signal } = options;
  const params = { sessionId: session.id };
  const body = { generation: identity.generation };
  const closed = await link.send(reportClosed, { params, body }, { signal });
  identity.generation = closed.generation;
  log.info({ next: closed.next }, 'closed');
  identity.sessionId = undefined;
  if (closed.next === 'exit') return 'exit';
  const { holding, found } = await recycleSession(session, options.proof);
  if (found.length > 0) log.warn({ found }, 'the session left something in this host');
  await tellWarm(options, { holding, found });
  return 'wait';
};

const serve = async (options: LifecycleOptions, assignment: Assignment): Promise<Next> => {
  const { identity } = options;
  identity.generation = assignment.generation;
  identity.sessionId = assignment.sessionId;
  const begun = await begin(options, assignment);
  if (begun === undefined) return 'exit';
  const { session } = begun;
  const delivery = startLedgerDelivery(options, session);
  try {
    const directive = await serveCalls(options, session, await tellReady(options, begun));
    await options.serving.end();
    await delivery.finish({ isStopping: directive === undefined });
    return directive === undefined ? 'exit' : await close(options, session);
  } finally {
    await delivery.finish({ isStopping: true });
  }
};

/** Loads a version that no session has asked for yet; a host that cannot has nothing left to do. */
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
  await tellWarm(options, { holding });
  log.info({ bundle: order.bundle, loadMs: performance.now() - startedAt }, 'loaded ahead');
  return 'wait';
};

const runToEnd = async (options: LifecycleOptions): Promise<void> => {
  const { link, log, identity, stopping: signal } = options;
  await tellWarm(options);
  log.info({ sinceStartMs: performance.now() }, 'warm');
  let next: Next = 'wait';
  while (next === 'wait' && !signal.aborted) {
    const { hostId, generation } = identity;
    const { assignment, load, drain } = await link.send(
      pollHost,
      { params: { hostId }, body: { generation, hold } },
      { signal, holdSeconds: hold },
    );
    if (drain === true) return;
    if (load !== undefined) next = await loadAhead(options, load);
    if (assignment !== undefined) next = await serve(options, assignment);
  }
};

/**
 * Runs until the host is drained, its session has ended without another to come, or `stopping`
 * aborts. Throws what the control plane refuses. Nothing is served afterwards.
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
