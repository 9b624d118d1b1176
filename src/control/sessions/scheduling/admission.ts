/**
 * Admission control for session opens. A session that finds no warm host waits for one. That is right while hosts are
 * starting, or while there are a few more sessions than hosts. Under overload it is not: the queue only grows, and
 * every session in it is served late. An open is refused before anything is written, with a time for the retry, in two
 * cases:
 *
 * - The number of waiting sessions has reached `most`.
 * - More sessions wait than hosts can still come, hosts change sessions quickly, and the first in the queue has
 *   nevertheless waited for `waitMs`. A new open would wait even longer. While this lasts, no open may queue behind
 *   another, and the number of opens in flight is limited to what the current throughput needs
 *   (`concurrency-limit.ts`). So a burst may queue, but under constant overload the admitted opens are served as
 *   quickly as without it.
 *
 * A project without a session in the queue, or without an open in flight, is always admitted. The load of other
 * projects does not lock it out. While opens find warm hosts, no query is made.
 */
import { LRUCache } from 'lru-cache';
import { AppError } from '#domain/error.ts';
import type { HostWish } from '#domain/pool.ts';
import type { ControlConfig } from '../../config.ts';
import { forNoProject } from '../../db/core/project-queue.ts';
import type { Backlog } from '../../db/sessions/backlog.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from './concurrency-limit.ts';
import { createRecentCount, type RecentCount } from './recent-count.ts';

export type Admission = {
  /**
   * Admits an open of a project, or throws `exhausted` with `retryAfterMs`. An admitted open is in flight until the
   * returned function is called, with true if it was served.
   */
  enter(projectId: string, wish: HostWish): Promise<(isServed: boolean) => void>;
  /** Records that a session was opened; `waits` is true if it found no host. */
  opened(wish: HostWish, waits: boolean): void;
  /** Records that a waiting session got a host. */
  placed(wish: HostWish): void;
};

/** Time for which a backlog stays valid, normally and under overload, in milliseconds. */
const believedMs = { usual: 100, crowded: 20 };
/** Window in which placements are counted, and the number in it from which hosts count as changing sessions quickly. */
const countedMs = 2_000;
const quickPlacements = 4;
/** Retry times in milliseconds: the one for an unknown wait, and the bounds of an estimated one. */
const unknownRetryMs = 5_000;
const retryMs = { least: 1_000, most: 30_000 };
/** Maximum number of queues in memory; while there are no pools, clients may request sizes of any name. */
const mostQueues = 1_000;

const nobodyWaits: Backlog = { waiting: 0, longestWaitMs: 0, projects: [], toCome: null };

type Queue = { crowding: Backlog; projects: Set<string>; readAt: number; admitted: number };

const keyOf = ({ tier, isolation, size }: HostWish): string => `${tier}/${isolation}/${size}`;

/** Builds the refusal, with the reason and the ways out. */
const refusal = (why: string, { waiting, longestWaitMs }: Backlog, retryAfterMs: number) =>
  new AppError('exhausted', `${why}; try again later, or have the pools enlarged`, {
    detail: { waiting, longestWaitMs: Math.round(longestWaitMs), retryAfterMs },
  });

/** Creates the admission; `read` reads the backlog, and `now` returns milliseconds. */
export const createAdmission = (
  { most, waitMs }: ControlConfig['opens'],
  read: (wish: HostWish) => Promise<Backlog>,
  now: () => number = () => performance.now(),
): Admission => {
  /** Backlog by wish, for wishes with waiting sessions as far as this replica knows. */
  const queues = new LRUCache<string, Queue | 'unread'>({ max: mostQueues });
  const reading = new Map<string, Promise<Queue>>();
  /** Recent placements by this replica, by wish. */
  const placements = new LRUCache<string, RecentCount>({
    max: mostQueues,
    memoMethod: () => createRecentCount(countedMs, now),
  });
  /** Concurrency limits by wish, from the opens that this replica serves. */
  const paces = new LRUCache<string, ConcurrencyLimit>({
    max: mostQueues,
    memoMethod: () => createConcurrencyLimit(now),
  });

  const readQueue = async (key: string, wish: HostWish): Promise<Queue> => {
    const crowding = await read(wish);
    const projects = new Set(crowding.projects);
    const queue = { crowding, projects, readAt: now(), admitted: 0 };
    if (crowding.waiting === 0) queues.delete(key);
    else queues.set(key, queue);
    return queue;
  };

  /**
   * Reads one backlog at a time; concurrent opens share the read. It is for no single project, so it takes no
   * project's turn.
   */
  const look = (key: string, wish: HostWish): Promise<Queue> => {
    const underWay = reading.get(key);
    if (underWay !== undefined) return underWay;
    const begun = forNoProject(() => readQueue(key, wish)).finally(() => reading.delete(key));
    reading.set(key, begun);
    return begun;
  };

  const retryAfter = (waiting: number, placed: number): number =>
    placed === 0
      ? unknownRetryMs
      : Math.min(Math.max((waiting * countedMs) / placed, retryMs.least), retryMs.most);

  /** Throws if the queue is too long for another session. */
  const checkQueue = (key: string, pace: ConcurrencyLimit, { crowding, admitted }: Queue): void => {
    const waiting = crowding.waiting + admitted;
    const placed = placements.memo(key).count();
    const later = Math.round(retryAfter(waiting, placed));
    if (waiting >= most) {
      const why = `${waiting} sessions wait for a host already (SVC_OPEN_QUEUE is ${most})`;
      throw refusal(why, crowding, later);
    }
    const { toCome, longestWaitMs } = crowding;
    const isShort = toCome !== null && waiting > toCome;
    const isQuick = placed >= quickPlacements;
    const wasCrowded = pace.isCrowded();
    if (!isShort || !isQuick || (longestWaitMs < waitMs && !wasCrowded)) return;
    pace.crowd();
    const why = `more sessions are opened than the hosts can serve: ${waiting} wait, the first for ${Math.round(longestWaitMs)} ms (SVC_OPEN_WAIT_MS is ${waitMs}${wasCrowded ? '; while this goes on nobody is let in to wait behind others' : ''})`;
    throw refusal(why, crowding, later);
  };

  /** Returns the queue of a wish; undefined if no session waits, as far as this replica knows. */
  const queueOf = async (
    key: string,
    wish: HostWish,
    pace: ConcurrencyLimit,
  ): Promise<Queue | undefined> => {
    const known = queues.get(key);
    if (known === undefined) return undefined;
    const freshMs = pace.isCrowded() ? believedMs.crowded : believedMs.usual;
    const isFresh = known !== 'unread' && now() - known.readAt < freshMs;
    return isFresh ? known : look(key, wish);
  };

  /**
   * Throws if the opens in flight have reached the limit. If hosts are starting for all waiting sessions, more may
   * wait.
   */
  const checkPace = (
    projectId: string,
    pace: ConcurrencyLimit,
    crowding: Backlog = nobodyWaits,
  ): void => {
    const { waiting, toCome } = crowding;
    const willCome = waiting > 0 && toCome !== null && waiting <= toCome;
    if (willCome || !pace.isFull(projectId)) return;
    pace.turnAway();
    const why =
      'more sessions are opened than can be served; while this goes on no more are let in at once than stay quick';
    throw refusal(why, crowding, retryMs.least);
  };

  return {
    async enter(projectId, wish) {
      const key = keyOf(wish);
      const pace = paces.memo(key);
      pace.ask();
      const queue = await queueOf(key, wish, pace);
      if (queue?.projects.has(projectId)) checkQueue(key, pace, queue);
      checkPace(projectId, pace, queue?.crowding);
      if (queue !== undefined) {
        queue.projects.add(projectId);
        queue.admitted += 1;
      }
      return pace.begin(projectId);
    },
    opened(wish, waits) {
      const key = keyOf(wish);
      if (waits && !queues.has(key)) queues.set(key, 'unread');
    },
    placed(wish) {
      placements.memo(keyOf(wish)).add();
    },
  };
};
