/**
 * Writes items of many requests by one statement and one commit. An item is written at once if nothing is in progress
 * and the last batch had one item. Otherwise it waits a moment for more items, and until fewer than `groups` batches
 * are in progress. So at low load no item waits, and at high load an item costs a fraction of a statement and of a
 * commit. Owners are served round-robin, so an owner with many items delays only its own items. Two items with the same
 * key are never in progress at the same time. If a batch leaves an item out, or fails because of one item, the callers
 * write their items alone: no item makes others fail.
 */
import { queueFull } from './connection-queue.ts';
import { forNoProject } from './project-queue.ts';

export type BatchLimits = {
  /** Maximum number of batches in progress (`groups`), and of items in a batch (`items`). */
  groups: number;
  items: number;
  /**
   * Time for which an item waits for more items at high load, in milliseconds, even if a batch could start; 0: the item
   * does not wait.
   */
  gatherMs: number;
  /** Maximum number of waiting items of one owner. */
  waiting: number;
};

export type BatcherOptions<Item, Value> = {
  limits: BatchLimits;
  /** Returns the owner for which an item counts in the round-robin. */
  ownerOf(item: Item): string;
  /** Returns the key of an item. No two items with the same key are in one batch. */
  keyOf(item: Item): string;
  /**
   * Writes the items of a batch. Returns a result for each item, in the order of the items; undefined for an item that
   * must be written alone.
   */
  together(items: readonly Item[]): Promise<readonly (Value | undefined)[]>;
  /** Returns true if the error was caused by one item and nothing of the batch was written. */
  isOfOne(error: unknown): boolean;
};

export type WriteBatcher<Item, Value> = {
  /**
   * Writes the item in a batch. Returns undefined if the caller must write the item alone. Throws `exhausted` if too
   * many items of the owner wait.
   */
  take(item: Item): Promise<Value | undefined>;
  /** Returns the number of waiting items. */
  waiting(): number;
};

type Waiter<Item, Value> = { item: Item; key: string } & PromiseWithResolvers<Value | undefined>;

/** Waiting items, in order for each owner. The owners are served round-robin. */
class WaitingItems<Item, Value> {
  /** Waiting items by owner. The owner that is served next comes first. */
  readonly #queues = new Map<string, Waiter<Item, Value>[]>();
  /** Keys of the items that are in progress. */
  readonly #busy = new Set<string>();

  isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  count(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.length, 0);
  }

  countOf(owner: string): number {
    return this.#queues.get(owner)?.length ?? 0;
  }

  add(owner: string, waiter: Waiter<Item, Value>): void {
    const queue = this.#queues.get(owner) ?? [];
    queue.push(waiter);
    this.#queues.set(owner, queue);
  }

  /** Takes the waiting items for the next batch. Their keys are in progress until `release` is called. */
  next(most: number): Waiter<Item, Value>[] {
    const group: Waiter<Item, Value>[] = [];
    // An owner with more waiters is moved to the end of the map, so this loop reaches it again.
    for (const [owner, queue] of this.#queues) {
      if (group.length >= most) break;
      const waiter = this.#takeOf(owner, queue);
      if (waiter !== undefined) group.push(waiter);
    }
    return group;
  }

  release(group: readonly Waiter<Item, Value>[]): void {
    for (const { key } of group) this.#busy.delete(key);
  }

  /**
   * Takes the first waiting item of the owner whose key is not in progress, and moves the owner to the end of the
   * round. Returns undefined if there is no such item.
   */
  #takeOf(owner: string, queue: Waiter<Item, Value>[]): Waiter<Item, Value> | undefined {
    const index = queue.findIndex(({ key }) => !this.#busy.has(key));
    const [waiter] = index < 0 ? [] : queue.splice(index, 1);
    if (waiter === undefined) return undefined;
    this.#busy.add(waiter.key);
    this.#queues.delete(owner);
    if (queue.length > 0) this.#queues.set(owner, queue);
    return waiter;
  }
}

class Batcher<Item, Value> implements WriteBatcher<Item, Value> {
  readonly #options: BatcherOptions<Item, Value>;
  readonly #waiting = new WaitingItems<Item, Value>();
  #underWay = 0;
  #lastItems = 0;
  #isStarting = false;
  #isGathering = false;

  constructor(options: BatcherOptions<Item, Value>) {
    this.#options = options;
  }

  take(item: Item): Promise<Value | undefined> {
    const { limits, ownerOf, keyOf } = this.#options;
    const owner = ownerOf(item);
    if (this.#waiting.countOf(owner) >= limits.waiting) return Promise.reject(queueFull());
    const waiter = { item, key: keyOf(item), ...Promise.withResolvers<Value | undefined>() };
    this.#waiting.add(owner, waiter);
    this.#startSoon();
    return waiter.promise;
  }

  waiting(): number {
    return this.#waiting.count();
  }

  /**
   * Starts batches after `gatherMs`, so that more items can join. If nothing is in progress and the last batch had at
   * most one item, starts them at once.
   */
  #startSoon(): void {
    const { gatherMs } = this.#options.limits;
    const isAlone = this.#underWay === 0 && this.#lastItems <= 1;
    if (isAlone || gatherMs === 0) {
      this.#startLater();
      return;
    }
    if (this.#isGathering) return;
    this.#isGathering = true;
    setTimeout(() => {
      this.#isGathering = false;
      this.#startLater();
    }, gatherMs);
  }

  /** Starts batches once all items that have arrived by now are queued. */
  #startLater(): void {
    if (this.#isStarting || this.#isGathering || this.#waiting.isEmpty()) return;
    this.#isStarting = true;
    setImmediate(() => this.#start());
  }

  #start(): void {
    const { groups, items } = this.#options.limits;
    this.#isStarting = false;
    while (this.#underWay < groups && !this.#waiting.isEmpty()) {
      const group = this.#waiting.next(items);
      if (group.length === 0) return;
      this.#lastItems = group.length;
      void forNoProject(() => this.#run(group));
    }
  }

  async #run(group: readonly Waiter<Item, Value>[]): Promise<void> {
    const { together, isOfOne } = this.#options;
    this.#underWay += 1;
    try {
      const values = await together(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(values[index]);
    } catch (error) {
      for (const { resolve, reject } of group) isOfOne(error) ? resolve(undefined) : reject(error);
    } finally {
      this.#underWay -= 1;
      this.#waiting.release(group);
      this.#startLater();
    }
  }
}

/** Creates a batcher. */
export const createWriteBatcher = <Item, Value>(
  options: BatcherOptions<Item, Value>,
): WriteBatcher<Item, Value> => new Batcher(options);
