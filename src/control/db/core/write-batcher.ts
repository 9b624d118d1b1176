/**
 * Writes items of many requests by one statement and one commit. If nothing is in progress and the last batch had one
 * item, an item is written at once. Otherwise it waits a moment for more items, and until fewer than `groups` batches
 * are in progress. So at low load nothing waits, and at high load an item costs a fraction of a statement and of a
 * commit.
 *
 * Owners are served round-robin, so an owner with many items delays only itself. Two items with one key are never in
 * progress at once. If a batch skips an item, or fails because of one, the caller writes its item alone: no item makes
 * others fail.
 */
import { queueFull } from './connection-queue.ts';
import { forNoProject } from './project-queue.ts';

export type BatchLimits = {
  /** Largest number of batches in progress at once (`groups`), and of items in one (`items`). */
  groups: number;
  items: number;
  /**
   * Time for which an item that could start a batch waits for more items at high load, in milliseconds; 0: not at all.
   */
  gatherMs: number;
  /** Largest number of items that may wait for one owner. */
  waiting: number;
};

export type BatcherOptions<Item, Value> = {
  limits: BatchLimits;
  /** Returns the owner that an item counts for in the round-robin. */
  ownerOf(item: Item): string;
  /** Returns the key of an item; no two items with one key are in one batch. */
  keyOf(item: Item): string;
  /**
   * Writes the items of a batch. Returns a result for each, in their order; undefined for an item that has to be
   * written alone.
   */
  together(items: readonly Item[]): Promise<readonly (Value | undefined)[]>;
  /** Returns true if one item caused the failure and nothing of the batch was written. */
  isOfOne(error: unknown): boolean;
};

export type WriteBatcher<Item, Value> = {
  /**
   * Writes the item in a batch. Returns undefined if the caller has to write it alone. Throws `exhausted` when too
   * many items of its owner wait.
   */
  take(item: Item): Promise<Value | undefined>;
  /** Returns the number of waiting items. */
  waiting(): number;
};

type Waiter<Item, Value> = { item: Item; key: string } & PromiseWithResolvers<Value | undefined>;

/** Creates a batcher. */
export const createWriteBatcher = <Item, Value>({
  limits,
  ownerOf,
  keyOf,
  together,
  isOfOne,
}: BatcherOptions<Item, Value>): WriteBatcher<Item, Value> => {
  /** Waiters by owner; the owner that is served next comes first. */
  const queues = new Map<string, Waiter<Item, Value>[]>();
  /** Keys of the items in progress. */
  const busy = new Set<string>();
  let underWay = 0;
  let lastItems = 0;
  let isStarting = false;
  let isGathering = false;

  /** Takes the owner's first waiter whose key is not in progress, and moves the owner to the end of the round. */
  const takeOf = (owner: string, queue: Waiter<Item, Value>[]): Waiter<Item, Value> | undefined => {
    const index = queue.findIndex(({ key }) => !busy.has(key));
    const [waiter] = index < 0 ? [] : queue.splice(index, 1);
    if (waiter === undefined) return undefined;
    busy.add(waiter.key);
    queues.delete(owner);
    if (queue.length > 0) queues.set(owner, queue);
    return waiter;
  };

  const nextGroup = (): Waiter<Item, Value>[] => {
    const group: Waiter<Item, Value>[] = [];
    // An owner with more waiters is moved to the end of the map, so this loop reaches it again.
    for (const [owner, queue] of queues) {
      if (group.length >= limits.items) break;
      const waiter = takeOf(owner, queue);
      if (waiter !== undefined) group.push(waiter);
    }
    return group;
  };

  const run = async (group: readonly Waiter<Item, Value>[]): Promise<void> => {
    underWay += 1;
    try {
      const values = await together(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(values[index]);
    } catch (error) {
      for (const { resolve, reject } of group) isOfOne(error) ? resolve(undefined) : reject(error);
    } finally {
      underWay -= 1;
      for (const { key } of group) busy.delete(key);
      startLater();
    }
  };

  const start = (): void => {
    isStarting = false;
    while (underWay < limits.groups && queues.size > 0) {
      const group = nextGroup();
      if (group.length === 0) return;
      lastItems = group.length;
      void forNoProject(() => run(group));
    }
  };

  /** Starts batches once all items that have arrived by now are queued. */
  const startLater = (): void => {
    if (isStarting || isGathering || queues.size === 0) return;
    isStarting = true;
    setImmediate(start);
  };

  /**
   * Starts batches after `gatherMs`, so that more items can join; at once if the item is alone, as the last one was.
   */
  const startSoon = (): void => {
    const isAlone = underWay === 0 && lastItems <= 1;
    if (isAlone || limits.gatherMs === 0) {
      startLater();
      return;
    }
    if (isGathering) return;
    isGathering = true;
    setTimeout(() => {
      isGathering = false;
      startLater();
    }, limits.gatherMs);
  };

  return {
    take(item) {
      const owner = ownerOf(item);
      const queue = queues.get(owner) ?? [];
      if (queue.length >= limits.waiting) return Promise.reject(queueFull());
      const waiter = { item, key: keyOf(item), ...Promise.withResolvers<Value | undefined>() };
      queue.push(waiter);
      queues.set(owner, queue);
      startSoon();
      return waiter.promise;
    },
    waiting: () => [...queues.values()].reduce((sum, queue) => sum + queue.length, 0),
  };
};
