/**
 * Batches telemetry writes and limits their concurrency. A request that arrives while its project has no running write
 * is written at once. Requests that arrive during a write of the same project wait for a moment, or until enough of
 * them wait, and share one transaction. Busy clients send many small requests, and each transaction costs as much as
 * dozens of spans. Projects take turns (`write-queue.ts`), and none may fill the whole queue. If the queue is full, a
 * request is refused (`overload.ts`).
 */
import { overloaded } from './overload.ts';
import { type Failure, writeByHalves } from './write-halves.ts';
import { type Batch, type WaitingRequest, WriteQueue } from './write-queue.ts';

export type WriteLimits = {
  /** Maximum number of running writes of all projects together (`running`), and of one project. */
  running: number;
  runningOfProject: number;
  /**
   * A project may start a second write while its first one runs in two cases: its waiting requests reach `overlapSize`
   * (by `sizeOf`), or the first of them has waited for `overlapMs`.
   */
  overlapSize: number;
  overlapMs: number;
  /** Maximum size of a batch, by `sizeOf`; a larger item is written alone. */
  batchSize: number;
  /** Maximum number of waiting requests of all projects together (`waiting`), and of one project. */
  waiting: number;
  waitingOfProject: number;
  /** Time after which a waiting request is refused, in milliseconds. */
  waitMs: number;
  /**
   * Time for which the parts of a failed batch are retried, in milliseconds; the requests that remain are then refused.
   */
  retryMs: number;
};

/** Interval at which waiting writes check whether they are still throttled, in milliseconds. */
const throttledMs = 100;

/** Context of one write. */
export type WriteContext = {
  /** Number of the write; no two concurrent writes have the same one. */
  slot: number;
  /** True if the items failed as part of a batch and are retried. The other items of that batch wait for this retry. */
  isRetry: boolean;
};

type Writer<Item> = {
  write(projectId: string, items: readonly Item[], context: WriteContext): Promise<void>;
  sizeOf(item: Item): number;
  /**
   * Returns the kind of an item; only items of the same kind share a batch. If this function is absent, all items may
   * share a batch.
   */
  kindOf?(item: Item): unknown;
  /**
   * Returns true if the failure may be caused by single items, so that the rest of the batch may succeed without them.
   */
  concernsItems(error: unknown): boolean;
  /** Lowest slot number; default 0. */
  firstSlot?: number;
  /** Returns true if writes are throttled: only one write then runs at a time, and it writes one request. */
  isThrottled?(): boolean;
};

export class WriteBatches<Item> {
  readonly #limits: WriteLimits;
  readonly #writer: Writer<Item>;
  readonly #freeSlots: number[];
  readonly #runningOf = new Map<string, number>();
  readonly #queue = new WriteQueue<Item>();
  #refused = 0;
  /** Timer that starts waiting writes once they are no longer throttled. */
  #throttled: NodeJS.Timeout | undefined;

  constructor(limits: WriteLimits, writer: Writer<Item>) {
    this.#limits = limits;
    this.#writer = writer;
    const first = writer.firstSlot ?? 0;
    this.#freeSlots = Array.from({ length: limits.running }, (_, index) => first + index);
  }

  /** Returns the number of running writes, of waiting requests, and of requests refused so far. */
  state(): { running: number; waiting: number; refused: number } {
    return { running: this.#running(), waiting: this.#queue.size, refused: this.#refused };
  }

  /**
   * Writes an item of a project, alone or in a batch. Throws the error of the item's write, and `unavailable` if the
   * queue is full or the item has waited too long.
   */
  async write(projectId: string, item: Item): Promise<void> {
    const request: WaitingRequest<Item> = {
      projectId,
      item,
      mayOverlap: false,
      ...Promise.withResolvers<Batch<Item> | undefined>(),
    };
    const batch = await this.#wait(request);
    if (batch === undefined) return;
    const { slot, others } = batch;
    const [own, ...failures] = await this.#writeAll(projectId, [request, ...others], slot);
    for (const [index, { resolve, reject }] of others.entries()) {
      const failure = failures[index];
      if (failure === undefined) resolve(undefined);
      else reject(failure.error);
    }
    this.#freeSlots.push(slot);
    this.#count(projectId, -1);
    this.#startAll();
    if (own !== undefined) throw own.error;
  }

  #writeAll(
    projectId: string,
    requests: readonly WaitingRequest<Item>[],
    slot: number,
  ): Promise<(Failure | undefined)[]> {
    const items = requests.map(({ item }) => item);
    return writeByHalves(items, {
      write: (some, isRetry) => this.#writer.write(projectId, some, { slot, isRetry }),
      concernsItems: this.#writer.concernsItems,
      retryMs: this.#limits.retryMs,
    });
  }

  /**
   * Queues a request and waits until it is in a batch. Returns the batch if this request is the one that must write it.
   */
  async #wait(request: WaitingRequest<Item>): Promise<Batch<Item> | undefined> {
    this.#queue.add(request);
    this.#startAll();
    if (!this.#queue.has(request)) return request.promise;
    this.#keepBounds(request.projectId);
    const overlap = setTimeout(() => {
      request.mayOverlap = true;
      this.#startAll();
    }, this.#limits.overlapMs);
    const late = setTimeout(() => {
      if (this.#queue.has(request)) this.#refuse(request);
    }, this.#limits.waitMs);
    try {
      return await request.promise;
    } finally {
      clearTimeout(overlap);
      clearTimeout(late);
    }
  }

  /**
   * Refuses one request if the queue is too long. If this project has too many waiting requests, its last request is
   * refused; otherwise the last request of the project that has most of them.
   */
  #keepBounds(projectId: string): void {
    const { waiting, waitingOfProject } = this.#limits;
    const own = this.#queue.of(projectId);
    const isOwnFull = own.length > waitingOfProject;
    if (!isOwnFull && this.#queue.size <= waiting) return;
    const last = (isOwnFull ? own : this.#queue.longest(projectId)).at(-1);
    if (last !== undefined) this.#refuse(last);
  }

  #refuse(request: WaitingRequest<Item>): void {
    this.#queue.remove(request);
    this.#refused += 1;
    request.reject(overloaded());
  }

  /** Starts all writes that may run now. */
  #startAll(): void {
    let hasStarted = true;
    while (hasStarted) hasStarted = this.#startNext();
    if (this.#queue.size === 0 || this.#throttled !== undefined || !this.#isThrottled()) return;
    this.#throttled = setTimeout(() => {
      this.#throttled = undefined;
      this.#startAll();
    }, throttledMs);
  }

  /** Starts the next write; returns false if no write may start. */
  #startNext(): boolean {
    if (this.#running() >= (this.#isThrottled() ? 1 : this.#limits.running)) return false;
    const projectId = this.#queue.next((id, requests) => this.#mayStart(id, requests));
    const slot = projectId === undefined ? undefined : this.#freeSlots.pop();
    if (projectId === undefined || slot === undefined) return false;
    const length = this.#batchLength(this.#queue.of(projectId));
    const [leader, ...others] = this.#queue.take(projectId, length);
    this.#count(projectId, 1);
    leader?.resolve({ slot, others });
    return true;
  }

  /** Returns true if a project has no running write, or if it may start another one and enough of its requests wait. */
  #mayStart(projectId: string, requests: readonly WaitingRequest<Item>[]): boolean {
    const running = this.#runningOf.get(projectId) ?? 0;
    if (running === 0) return true;
    if (running >= this.#limits.runningOfProject) return false;
    return requests[0]?.mayOverlap === true || this.#sizeOf(requests) >= this.#limits.overlapSize;
  }

  /** Returns the number of waiting requests in the next batch, counted from the first. */
  #batchLength(requests: readonly WaitingRequest<Item>[]): number {
    if (this.#isThrottled()) return 1;
    const { sizeOf, kindOf } = this.#writer;
    const [leader] = requests;
    let size = 0;
    const end = requests.findIndex(({ item }) => {
      size += sizeOf(item);
      return size > this.#limits.batchSize || (leader && kindOf?.(item) !== kindOf?.(leader.item));
    });
    return end === -1 ? requests.length : Math.max(end, 1);
  }

  #sizeOf(requests: readonly WaitingRequest<Item>[]): number {
    return requests.reduce((sum, { item }) => sum + this.#writer.sizeOf(item), 0);
  }

  #running(): number {
    return this.#limits.running - this.#freeSlots.length;
  }

  #isThrottled(): boolean {
    return this.#writer.isThrottled?.() ?? false;
  }

  #count(projectId: string, by: 1 | -1): void {
    const running = (this.#runningOf.get(projectId) ?? 0) + by;
    if (running === 0) this.#runningOf.delete(projectId);
    else this.#runningOf.set(projectId, running);
  }
}
