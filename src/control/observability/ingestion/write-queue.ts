/**
 * Fair queue of requests that wait to be written. The next project is the one whose last write began longest ago. The
 * queue remembers these times also for projects without waiting requests. A refused request does not count as a write.
 */
import { LRUCache } from 'lru-cache';

/**
 * Batch that one of its requests writes. `others` are the other requests of the batch. No two concurrent writes have
 * the same `slot`.
 */
export type Batch<Item> = { slot: number; others: readonly WaitingRequest<Item>[] };

/**
 * Waiting request. It resolves with the batch if this request must write the batch; with undefined once another request
 * has written this one.
 */
export type WaitingRequest<Item> = PromiseWithResolvers<Batch<Item> | undefined> & {
  projectId: string;
  item: Item;
  /** True if the request has waited long enough to be written while another write of its project runs. */
  mayOverlap: boolean;
};

type Requests<Item> = readonly WaitingRequest<Item>[];

/** Maximum number of projects whose last write is remembered. */
const mostRemembered = 1_000;

export class WriteQueue<Item> {
  /** Waiting requests by project; no list is empty. */
  readonly #requests = new Map<string, Requests<Item>>();
  /** Number of the last write of each project; writes of all projects are numbered together. */
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

  /** Returns the waiting requests of the project that has most of them; of `projectId` if no other project has more. */
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

  /**
   * Returns the project whose requests are written next, among the projects that may start a write; undefined if there
   * is none.
   */
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
