/**
 * Caches the routes of sessions in memory. An entry is used until its lifetime ends or the feed reports a change; the
 * next request then asks the control plane again. If the control plane does not answer, the last known route stays in
 * use, so that sessions remain reachable. If the control plane rejects the gateway's token, the route becomes unknown.
 * The number of entries is bounded; the least recently used one is evicted first.
 */
import { LRUCache } from 'lru-cache';
import { AppError } from '#domain/error.ts';
import type { Route } from '#wire/gateway-api/operations.ts';

/**
 * Result of a lookup: the route; `none` if the session does not exist; `unknown` if the control plane did not answer
 * and nothing is cached.
 */
export type Found = { kind: 'route'; route: Route } | { kind: 'none' } | { kind: 'unknown' };

export type RouteTable = {
  find(sessionId: string): Promise<Found>;
  /** Asks the control plane for the session's route, even if one is cached. */
  refresh(sessionId: string): Promise<Found>;
  /** Expires the routes of these sessions, because they may have changed. */
  expire(sessionIds: readonly string[]): void;
  /** Expires all routes, because they may have changed. */
  expireAll(): void;
  /** Returns the number of cached entries. */
  size(): number;
};

export type RouteTableOptions = {
  /**
   * Asks the control plane for a route. Throws `not_found`, `unauthenticated` or `forbidden` if the control plane
   * answered with that error. Throws any other error if the control plane did not answer.
   */
  ask(sessionId: string): Promise<Route>;
  /** Maximum number of entries. */
  most: number;
  /** Monotonic clock, in milliseconds; a test may replace it. */
  now?: () => number;
};

/** Time after which a steady route is looked up again even if the feed reported no change, in milliseconds. */
const steadyMs = 60_000;
/** Lifetime of a route that is about to change, and of the result that a session does not exist, in milliseconds. */
const passingMs = 500;
const noneMs = 2_000;
/** Maximum age up to which a route is used while the control plane does not answer, in milliseconds. */
const lastResortMs = 3_600_000;
/** Delay after a failed lookup before the next one, in milliseconds. */
const restMs = 1_000;
/** Maximum number of concurrent lookups. More would only queue at the control plane. */
const mostAsks = 512;

type Entry = { found: Found; askedAt: number; freshUntil: number };
type Ask = { answer: Promise<Found>; isOutdated: boolean };

const steadyStates: readonly Route['state'][] = ['READY', 'CLOSED', 'FAILED'];

const isSteady = (found: Found): boolean =>
  found.kind === 'route' && steadyStates.includes(found.route.state);

const lifeOf = (found: Found): number => {
  if (found.kind === 'none') return noneMs;
  return isSteady(found) ? steadyMs : passingMs;
};

const unknown: Found = { kind: 'unknown' };

/** Returns true if the control plane answered and rejected the gateway's token. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'unauthenticated' || error.code === 'forbidden');

/** Creates an empty table. */
export const createRouteTable = (options: RouteTableOptions): RouteTable => {
  const { ask, most, now = () => performance.now() } = options;
  const entries = new LRUCache<string, Entry>({ max: most });
  const asks = new Map<string, Ask>();

  /** Returns the cached route if it is not too old. It is then used for `restMs` before the next lookup. */
  const fallBack = (sessionId: string): Found => {
    const entry = entries.get(sessionId);
    if (entry === undefined) return unknown;
    if (!isSteady(entry.found) || now() - entry.askedAt > lastResortMs) {
      entries.delete(sessionId);
      return unknown;
    }
    entry.freshUntil = now() + restMs;
    return entry.found;
  };

  const askOnce = async (sessionId: string, asking: Ask): Promise<Found> => {
    const askedAt = now();
    let found: Found;
    try {
      found = { kind: 'route', route: await ask(sessionId) };
    } catch (error) {
      if (isRefusal(error)) {
        entries.delete(sessionId);
        return unknown;
      }
      if (!(error instanceof AppError && error.code === 'not_found')) return fallBack(sessionId);
      found = { kind: 'none' };
    }
    const freshUntil = asking.isOutdated ? askedAt : askedAt + lifeOf(found);
    entries.set(sessionId, { found, askedAt, freshUntil });
    return found;
  };

  const refresh = (sessionId: string): Promise<Found> => {
    const underWay = asks.get(sessionId);
    if (underWay !== undefined && !underWay.isOutdated) return underWay.answer;
    if (asks.size >= mostAsks) return Promise.resolve(fallBack(sessionId));
    const asking: Ask = { answer: Promise.resolve(unknown), isOutdated: false };
    asks.set(sessionId, asking);
    asking.answer = askOnce(sessionId, asking).finally(() => {
      if (asks.get(sessionId) === asking) asks.delete(sessionId);
    });
    return asking.answer;
  };

  const expireOne = (sessionId: string): void => {
    const entry = entries.get(sessionId);
    if (entry !== undefined) entry.freshUntil = Number.NEGATIVE_INFINITY;
    const asking = asks.get(sessionId);
    if (asking !== undefined) asking.isOutdated = true;
  };

  return {
    find(sessionId) {
      const entry = entries.get(sessionId);
      if (entry === undefined || entry.freshUntil <= now()) return refresh(sessionId);
      entries.set(sessionId, entry);
      return Promise.resolve(entry.found);
    },
    refresh,
    expire: (sessionIds) => sessionIds.forEach(expireOne),
    expireAll: () => [...entries.keys(), ...asks.keys()].forEach(expireOne),
    size: () => entries.size,
  };
};
