/**
 * The routes of sessions, as the control plane told them, in memory. An entry is used for a while, or
 * until the feed says that it changed; then the next request asks again. When the control plane does not
 * answer, what it said before is used on, so that sessions can be reached while it is away. What it refuses
 * to tell (the gateway's token is not taken) is not known any more.
 *
 * Entries are bounded in number: the one that was used longest ago goes first.
 */
import { LRUCache } from 'lru-cache';
import { AppError } from '#domain/error.ts';
import type { Route } from '#wire/gateway-api/operations.ts';

/** A session's route; `none` when there is no such session; `unknown` when nobody could say. */
export type Found = { kind: 'route'; route: Route } | { kind: 'none' } | { kind: 'unknown' };

export type RouteTable = {
  find(sessionId: string): Promise<Found>;
  /** Asks anew, whatever is remembered. */
  refresh(sessionId: string): Promise<Found>;
  /** These routes may be others now. */
  expire(sessionIds: readonly string[]): void;
  /** Any route may be another now. */
  expireAll(): void;
  /** How many are remembered. */
  size(): number;
};

export type RouteTableOptions = {
  /**
   * Asks the control plane; throws `not_found`, `unauthenticated` or `forbidden` as it says, or anything else
   * when it does not answer.
   */
  ask(sessionId: string): Promise<Route>;
  /** Most entries. */
  most: number;
  /** Milliseconds of a clock that only goes forward. */
  now?: () => number;
};

/** A route that holds until the feed says otherwise is asked for again after so long nevertheless. */
const steadyMs = 60_000;
/** One that is about to change, and one that does not exist. */
const passingMs = 500;
const noneMs = 2_000;
/** What cannot be asked for anew is used on for so long. */
const lastResortMs = 3_600_000;
/** After an ask that failed the next one waits so long. */
const restMs = 1_000;
/** Asks under way; more would only queue up at the control plane. */
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

/** Whether the control plane answered, and does not take who asks. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'unauthenticated' || error.code === 'forbidden');

/** Makes an empty table. */
export const createRouteTable = (options: RouteTableOptions): RouteTable => {
  const { ask, most, now = () => performance.now() } = options;
  const entries = new LRUCache<string, Entry>({ max: most });
  const asks = new Map<string, Ask>();

  /** What was known before, where that may still be used. */
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
