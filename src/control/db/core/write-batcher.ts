/**
 * Work of many done by one statement and one commit. An item goes at once where nothing is under way and the last
 * group was of one item; else it waits a moment for others, and until few groups are under way, and they go together.
 * So nothing waits where little is asked for, and where much is, an item costs a fraction of a statement and of a
 * commit.
 *
 * Owners take turns: one that asks for much waits for itself. No two items of one key are under way at
 * once. What a group leaves undone, or fails in, is for whoever asked to do alone: no item takes others along.
 */
import { tooManyWait } from './connection-queue.ts';
import { forNoProject } from './project-queue.ts';

export type BatchLimits = {
  /** How many groups are under way at once, and how many items one has. */
  groups: number;
  items: number;
  /** How long an item that a group could begin with waits for others, where there are some; 0: not at all. */
  gatherMs: number;
  /** How many items of one owner may wait. */
  waiting: number;
};

export type BatcherOptions<Item, Value> = {
  limits: BatchLimits;
  /** Whose share an item counts in. */
  ownerOf(item: Item): string;
  /** What no two items of one group may be about. */
  keyOf(item: Item): string;
  /** Does some together: what came of each, in their order; undefined for what is to be done alone. */
  together(items: readonly Item[]): Promise<readonly (Value | undefined)[]>;
  /** Whether a failure is that of one item, and nothing of its group was done. */
  isOfOne(error: unknown): boolean;
};

export type WriteBatcher<Item, Value> = {
  /** Does it with others; undefined when it is to be done alone. Throws `exhausted` when too many wait. */
  take(item: Item): Promise<Value | undefined>;
  /** How many wait. */
  waiting(): number;
};

type Waiter<Item, Value> = { item: Item; key: string } & PromiseWithResolvers<Value | undefined>;

/** Makes it. */
export const createWriteBatcher = <Item, Value>({
  limits,
  ownerOf,
  keyOf,
  together,
  isOfOne,
}: BatcherOptions<Item, Value>): WriteBatcher<Item, Value> => {
  /** Who waits, by owner; the one whose turn is next comes first. */
  const queues = new Map<string, Waiter<Item, Value>[]>();
  /** What is being done something about. */
  const busy = new Set<string>();
  let underWay = 0;
  let lastItems = 0;
  let isStarting = false;
  let isGathering = false;

  /** Takes the first of an owner that nothing under way is about; its turn comes again after the others'. */
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
    // An owner that has more comes again at the end of the map, and so in this very loop.
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

  /** When all that has arrived by now is known. */
  const startLater = (): void => {
    if (isStarting || isGathering || queues.size === 0) return;
    isStarting = true;
    setImmediate(start);
  };

  /** When others have had the time to come; at once for one that comes alone, as the last one did. */
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
      if (queue.length >= limits.waiting) return Promise.reject(tooManyWait());
      const waiter = { item, key: keyOf(item), ...Promise.withResolvers<Value | undefined>() };
      queue.push(waiter);
      queues.set(owner, queue);
      startSoon();
      return waiter.promise;
    },
    waiting: () => [...queues.values()].reduce((sum, queue) => sum + queue.length, 0),
  };
};
