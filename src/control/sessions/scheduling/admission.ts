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
import type { Backlog } from '../../db/sessions/backlog.ts';
import { Backlogs, type KnownBacklog, keyOf, mostWishes } from './backlogs.ts';
import { type ConcurrencyLimit, createConcurrencyLimit } from './concurrency-limit.ts';
import { createRecentCount, type RecentCount } from './recent-count.ts';

/** Maximum age of a backlog before it is read again, normally and under overload, in milliseconds. */
const freshMs = { usual: 100, overloaded: 20 };
/**
 * Time window in which assignments are counted, in milliseconds, and the count from which hosts are said to change
 * sessions quickly.
 */
const countedMs = 2_000;
const quickAssignments = 4;
/** Retry times in milliseconds: the time used if the wait is unknown, and the bounds of an estimated time. */
const unknownRetryMs = 5_000;
const retryMs = { least: 1_000, most: 30_000 };

const emptyBacklog: Backlog = { waiting: 0, longestWaitMs: 0, projects: [], toCome: null };

/** Builds the error of a refused open, with the reason and what the caller can do. */
const refusal = (why: string, { waiting, longestWaitMs }: Backlog, retryAfterMs: number) =>
  new AppError('exhausted', `${why}; try again later, or let the operator enlarge the pools`, {
    detail: { waiting, longestWaitMs: Math.round(longestWaitMs), retryAfterMs },
  });

/** Estimates from the assignments in the time window when a retry may succeed, in milliseconds. */
const retryAfter = (waiting: number, assigned: number): number => {
  if (assigned === 0) return unknownRetryMs;
  const clearedMs = (waiting * countedMs) / assigned;
  return Math.round(Math.min(Math.max(clearedMs, retryMs.least), retryMs.most));
};

/** Returns true if hosts are starting, or can be launched, for all waiting sessions. */
const areHostsComing = ({ waiting, toCome }: Backlog): boolean =>
  waiting > 0 && toCome !== null && waiting <= toCome;

export class Admission {
  readonly #limits: ControlConfig['opens'];
  readonly #backlogs: Backlogs;
  /** Recent assignments by this replica, for each wish for a host. */
  readonly #assignments: LRUCache<string, RecentCount>;
  /** Concurrency limits, for each wish for a host, computed from the opens that this replica serves. */
  readonly #concurrency: LRUCache<string, ConcurrencyLimit>;

  /** Creates the admission control; `read` reads the backlog, and `now` returns milliseconds. */
  constructor(
    limits: ControlConfig['opens'],
    read: (wish: HostWish) => Promise<Backlog>,
    now: () => number = () => performance.now(),
  ) {
    this.#limits = limits;
    this.#backlogs = new Backlogs(read, now);
    this.#assignments = new LRUCache<string, RecentCount>({
      max: mostWishes,
      memoMethod: () => createRecentCount(countedMs, now),
    });
    this.#concurrency = new LRUCache<string, ConcurrencyLimit>({
      max: mostWishes,
      memoMethod: () => createConcurrencyLimit(now),
    });
  }

  /**
   * Admits an open of a project, or throws `exhausted` with `retryAfterMs`. An admitted open counts as in flight until
   * the returned function is called. The caller passes true to that function if the open was served.
   */
  async enter(projectId: string, wish: HostWish): Promise<(isServed: boolean) => void> {
    const key = keyOf(wish);
    const limit = this.#concurrency.memo(key);
    limit.noteRequest();
    const isOverloaded = limit.isOverloaded();
    const known = await this.#backlogs.find(
      wish,
      isOverloaded ? freshMs.overloaded : freshMs.usual,
    );
    if (known?.projects.has(projectId)) this.#checkQueue(key, limit, known);
    this.#checkConcurrency(projectId, limit, known?.backlog);
    if (known !== undefined) {
      known.projects.add(projectId);
      known.admitted += 1;
    }
    return limit.begin(projectId);
  }

  /** Records that a session was opened; `waits` is true if no host was free for it. */
  opened(wish: HostWish, waits: boolean): void {
    if (waits) this.#backlogs.noteWaiting(wish);
  }

  /** Records that a waiting session got a host. */
  assigned(wish: HostWish): void {
    this.#assignments.memo(keyOf(wish)).add();
  }

  /** Throws if the queue is too long for another session to join it. */
  #checkQueue(key: string, limit: ConcurrencyLimit, { backlog, admitted }: KnownBacklog): void {
    const waiting = backlog.waiting + admitted;
    const assigned = this.#assignments.memo(key).count();
    const { most, waitMs } = this.#limits;
    if (waiting >= most) {
      const why = `${waiting} sessions already wait for a host (SVC_OPEN_QUEUE is ${most})`;
      throw refusal(why, backlog, retryAfter(waiting, assigned));
    }
    const { toCome, longestWaitMs } = backlog;
    const isShort = toCome !== null && waiting > toCome;
    const isQuick = assigned >= quickAssignments;
    const wasOverloaded = limit.isOverloaded();
    if (!isShort || !isQuick || (longestWaitMs < waitMs && !wasOverloaded)) return;
    limit.markOverload();
    const noQueue = wasOverloaded ? '; while this lasts, no open may queue behind another' : '';
    const why = `more sessions are opened than the hosts can serve: ${waiting} wait, the first for ${Math.round(longestWaitMs)} ms (SVC_OPEN_WAIT_MS is ${waitMs}${noQueue})`;
    throw refusal(why, backlog, retryAfter(waiting, assigned));
  }

  /**
   * Throws if the number of opens in flight has reached the limit. If hosts are coming for all waiting sessions, more
   * opens may wait.
   */
  #checkConcurrency(
    projectId: string,
    limit: ConcurrencyLimit,
    backlog: Backlog = emptyBacklog,
  ): void {
    if (areHostsComing(backlog) || !limit.isFull(projectId)) return;
    limit.noteRefusal();
    const why =
      'more sessions are opened than can be served; while this lasts, the number of opens in flight is limited';
    throw refusal(why, backlog, retryMs.least);
  }
}
