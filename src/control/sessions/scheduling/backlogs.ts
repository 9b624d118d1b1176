/**
 * Backlogs of waiting sessions as this replica knows them, one for each wish for a host. A backlog that is too old is
 * read again, and concurrent opens share the read. Between two reads, the opens that were admitted are added to the
 * backlog.
 */
import { LRUCache } from 'lru-cache';
import type { HostWish } from '#domain/pool.ts';
import { forNoProject } from '../../db/core/project-queue.ts';
import type { Backlog } from '../../db/sessions/backlog.ts';

/** Backlog of one wish for a host, the time at which it was read, and the number of opens admitted since. */
export type KnownBacklog = {
  backlog: Backlog;
  /** Projects that have a session in the backlog. */
  projects: Set<string>;
  readAt: number;
  admitted: number;
};

/**
 * Maximum number of wishes whose backlogs are in memory. A maximum is needed because clients may request any name of a
 * size while there are no pools.
 */
export const mostWishes = 1_000;

export const keyOf = ({ tier, isolation, size }: HostWish): string =>
  `${tier}/${isolation}/${size}`;

export class Backlogs {
  readonly #read: (wish: HostWish) => Promise<Backlog>;
  readonly #now: () => number;
  readonly #known = new LRUCache<string, KnownBacklog | 'unread'>({ max: mostWishes });
  readonly #reading = new Map<string, Promise<KnownBacklog>>();

  constructor(read: (wish: HostWish) => Promise<Backlog>, now: () => number) {
    this.#read = read;
    this.#now = now;
  }

  /** Records that a session waits for a host with this wish. */
  noteWaiting(wish: HostWish): void {
    const key = keyOf(wish);
    if (!this.#known.has(key)) this.#known.set(key, 'unread');
  }

  /**
   * Returns the backlog of a wish; it was read at most `freshMs` milliseconds ago. Returns undefined if this replica
   * knows of no waiting session.
   */
  async find(wish: HostWish, freshMs: number): Promise<KnownBacklog | undefined> {
    const key = keyOf(wish);
    const known = this.#known.get(key);
    if (known === undefined) return undefined;
    const isFresh = known !== 'unread' && this.#now() - known.readAt < freshMs;
    return isFresh ? known : this.#share(key, wish);
  }

  /**
   * Starts a read of the backlog, or joins the one in progress. The read serves several projects, so it bypasses the
   * project queue.
   */
  #share(key: string, wish: HostWish): Promise<KnownBacklog> {
    const inProgress = this.#reading.get(key);
    if (inProgress !== undefined) return inProgress;
    const reading = forNoProject(() => this.#readOnce(key, wish));
    const shared = reading.finally(() => this.#reading.delete(key));
    this.#reading.set(key, shared);
    return shared;
  }

  async #readOnce(key: string, wish: HostWish): Promise<KnownBacklog> {
    const backlog = await this.#read(wish);
    const projects = new Set(backlog.projects);
    const known = { backlog, projects, readAt: this.#now(), admitted: 0 };
    if (backlog.waiting === 0) this.#known.delete(key);
    else this.#known.set(key, known);
    return known;
  }
}
