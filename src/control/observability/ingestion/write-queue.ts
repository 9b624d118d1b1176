/**
 * Fair queue of requests that wait to be written. The project whose last write began longest ago is next. The queue
 * remembers these writes also for projects without waiting requests, and a refused request does not count as one.
 */
import { LRUCache } from 'lru-cache';

/** Requests that a request must write besides its own. No concurrent write has the same `slot`. */
export type Batch<Item> = { slot: number; others: readonly WaitingRequest<Item>[] };

/** Waiting request. It resolves with undefined once another request has written it, or with the batch to write. */
export type WaitingRequest<Item> = PromiseWithResolvers<Batch<Item> | undefined> & {
  projectId: string;
  item: Item;
  /** True if it has waited long enough to be written beside a running write of its project. */
  mayOverlap: boolean;
};

type Requests<Item> = readonly WaitingRequest<Item>[];

/** Number of projects whose last write is remembered. */
const mostRemembered = 1_000;

export class WriteQueue<Item> {
  /** Waiting requests by project; no list is empty. */
  readonly #requests = new Map<string, Requests<Item>>();
  /** Number of the last write of each project, counted over all projects. */
  readonly #lastWrites = new LRUCache<string, number>({ max: mostRemembered });
  #writes = 0;
  #size = 0;

  /** Number of waiting requests of all projects. */
  get size(): number {
    return this.#size;
  }

  /** Returns the waiting requests of a project, the oldest first. */
  of(projectId: string): Requests<Item> {
    return this.#requests.get(projectId) ?? [];
  }

  /** Returns the waiting requests of the project that has most of them; of `projectId` if none has more. */
  longest(projectId: string): Requests<Item> {
    let longest = this.of(projectId);
    for (const requests of this.#requests.values()) {
      if (requests.length > longest.length) longest = requests;
    }
    return longest;
  }

  has(request: WaitingRequest<Item>): boolean {
    return this.of(request.projectId).includes(request);
  }

  add(request: WaitingRequest<Item>): void {
    this.#set(request.projectId, [...this.of(request.projectId), request]);
  }

  remove(request: WaitingRequest<Item>): void {
    const left = this.of(request.projectId).filter((other) => other !== request);
    this.#set(request.projectId, left);
  }

  /** Returns the project to write next among those that may start a write; undefined if there is none. */
  next(mayStart: (projectId: string, requests: Requests<Item>) => boolean): string | undefined {
    let next: string | undefined;
    for (const [projectId, requests] of this.#requests) {
      if (!mayStart(projectId, requests)) continue;
      if (next === undefined || this.#lastWrite(projectId) < this.#lastWrite(next)) {
        next = projectId;
      }
    }
    return next;
  }

  /** Removes and returns the first requests of a project, for a write that begins now. */
  take(projectId: string, length: number): Requests<Item> {
    const requests = this.of(projectId);
    this.#set(projectId, requests.slice(length));
    this.#writes += 1;
    this.#lastWrites.set(projectId, this.#writes);
    return requests.slice(0, length);
  }

  #lastWrite(projectId: string): number {
    return this.#lastWrites.get(projectId) ?? 0;
  }

  #set(projectId: string, requests: Requests<Item>): void {
    this.#size += requests.length - this.of(projectId).length;
    if (requests.length > 0) this.#requests.set(projectId, requests);
    else this.#requests.delete(projectId);
  }
}
