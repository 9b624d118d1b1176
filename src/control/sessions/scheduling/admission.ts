/**
 * Which opens are let in. A session that finds no warm host waits for one. That is right while hosts are on
 * their way, or while there are just more sessions than hosts. It is not when more is asked for than is
 * borne: then the queue only grows, and everybody in it is served late. So an open is refused, before
 * anything is written and with word of when to try again,
 *
 * - when as many wait as may (`most`);
 * - when more wait than hosts can still come, hosts pass from session to session quickly, and the first in the
 *   queue has waited for `waitMs` all the same: whoever came now would wait longer still. For as long as that
 *   goes on, nobody is let in to wait behind another, and no more opens are under way than serve what is served anyway
 *   (`concurrency-limit.ts`): a burst may wait, but where more is asked for all the time, those that are let in are to be served as
 *   if it were not.
 *
 * A project that has nobody in the queue, or no open under way, is let in all the same: what others ask for does not
 * shut it out.
 * While opens find warm hosts nothing is looked up for this.
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
   * Throws `exhausted`, with `retryAfterMs`, when a project's session of this wish is not to be opened now. Otherwise
   * the open is under way until what it gives back is called, with whether it was served.
   */
  enter(projectId: string, wish: HostWish): Promise<(isServed: boolean) => void>;
  /** A session was opened; `waits` when it found no host. */
  opened(wish: HostWish, waits: boolean): void;
  /** A session of this wish that waited was given a host. */
  placed(wish: HostWish): void;
};

/** What was read is believed for so long, and where more is asked for than is borne. */
const believedMs = { usual: 100, crowded: 20 };
/** Placements are counted over so long; hosts pass on quickly when there were so many in it. */
const countedMs = 2_000;
const quickPlacements = 4;
/** What callers are told: that long when nobody can know, and never less, or more. */
const unknownRetryMs = 5_000;
const retryMs = { least: 1_000, most: 30_000 };
/** Wishes that are remembered; where there are no pools yet, a size may have any name. */
const mostQueues = 1_000;

const nobodyWaits: Backlog = { waiting: 0, longestWaitMs: 0, projects: [], toCome: null };

type Queue = { crowding: Backlog; projects: Set<string>; readAt: number; admitted: number };

const keyOf = ({ tier, isolation, size }: HostWish): string => `${tier}/${isolation}/${size}`;

/** The refusal, in words that name what is crowded and the ways out. */
const refusal = (why: string, { waiting, longestWaitMs }: Backlog, retryAfterMs: number) =>
  new AppError('exhausted', `${why}; try again later, or have the pools enlarged`, {
    detail: { waiting, longestWaitMs: Math.round(longestWaitMs), retryAfterMs },
  });

/** Makes it; `read` looks how crowded it is, and `now` tells milliseconds. */
export const createAdmission = (
  { most, waitMs }: ControlConfig['opens'],
  read: (wish: HostWish) => Promise<Backlog>,
  now: () => number = () => performance.now(),
): Admission => {
  /** Those that somebody waits in, as far as is known. */
  const queues = new LRUCache<string, Queue | 'unread'>({ max: mostQueues });
  const reading = new Map<string, Promise<Queue>>();
  /** When this replica placed sessions of a wish lately. */
  const placements = new LRUCache<string, RecentCount>({
    max: mostQueues,
    memoMethod: () => createRecentCount(countedMs, now),
  });
  /** By the opens that this replica serves. */
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

  /** One look at a time, which all who come meanwhile share: it is for no project alone. */
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

  /** Throws where the queue is too long for another. */
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

  /** The queue of a wish, undefined where nobody waits as far as is known. */
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

  /** Throws where as many opens are under way as may be. Where hosts are on their way for all that wait, more may wait. */
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
