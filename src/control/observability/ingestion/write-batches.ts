/**
 * Batches telemetry writes and limits their concurrency. A request that comes alone is written at once. Requests that
 * arrive during a write of the same project wait for a moment, or until they are enough, and share one transaction.
 * Busy clients send many small requests, and each transaction costs as much as dozens of spans. Projects take turns,
 * and none may fill the whole queue. A request that finds the queue full is refused as `unavailable`, because clients
 * retry soon after that and not after a 429.
 */
import { LRUCache } from 'lru-cache';
import { AppError } from '#domain/error.ts';

export type Gate<Item> = {
  /**
   * Writes an item of a project, alone or in a batch. Throws the error of its write, and `unavailable` if the queue is
   * full or the wait too long.
   */
  pass(projectId: string, item: Item): Promise<void>;
  /** Returns the number of running writes, of waiting requests, and of requests refused so far. */
  state(): { underWay: number; waiting: number; refused: number };
};

const retryAfterMs = 1_000;

export const overloaded = (cause?: unknown): AppError =>
  new AppError('unavailable', 'too much is being ingested; send it again in a moment', {
    detail: { retryAfterMs },
    ...(cause === undefined ? {} : { cause }),
  });

type Most = {
  /** Maximum number of running writes, of all projects and of one. */
  atOnce: number;
  ofProject: number;
  /**
   * A project may start a second write beside a running one in two cases: its waiting requests reach the size `beside`
   * (by `sizeOf`), or the first has waited for `besideMs`.
   */
  beside: number;
  besideMs: number;
  /** Maximum size of a batch, by `sizeOf`; a larger item is written alone. */
  together: number;
  /** Maximum number of waiting requests, of all projects and of one. */
  waiting: number;
  waitingOfProject: number;
  /** Time after which a waiting request is refused, in milliseconds. */
  waitMs: number;
  /** Time for which the parts of a failed batch are retried, in milliseconds; then the rest is refused. */
  againMs: number;
};

/** Interval at which waiting requests check if the gate is still narrow, in milliseconds. */
const narrowMs = 100;

/** Number of projects whose last turn is remembered. */
const mostTurns = 1_000;

/** Context of one write. */
export type Turn = {
  /** Number that no concurrent write has. */
  place: number;
  /** True if the items failed as part of a batch, whose other items wait for this retry. */
  isAgain: boolean;
};

type Work<Item> = {
  write(projectId: string, items: readonly Item[], turn: Turn): Promise<void>;
  sizeOf(item: Item): number;
  /** Only items of the same kind share a batch; by default all do. */
  kindOf?(item: Item): unknown;
  /** Returns true if the failure concerns single items, so that the rest of the batch may succeed without them. */
  isOfItems(error: unknown): boolean;
  /** First number of a place; default 0. */
  first?: number;
  /** While it returns true, only one write runs at a time, with one request. */
  isNarrow?(): boolean;
};

/**
 * A waiting request. It resolves with undefined if another request has written it, or with the batch that it must
 * write.
 */
type Waiting<Item> = PromiseWithResolvers<Group<Item> | undefined> & {
  projectId: string;
  item: Item;
  /** True if it has waited long enough to be written beside another write of its project. */
  isDue: boolean;
};

type Group<Item> = { place: number; others: readonly Waiting<Item>[] };

type Failure = { error: unknown };

/** Creates the gate. */
export const createGate = <Item>(
  most: Most,
  { write, sizeOf, kindOf, isOfItems, first = 0, isNarrow = () => false }: Work<Item>,
): Gate<Item> => {
  const free = Array.from({ length: most.atOnce }, (_, index) => first + index);
  const writesOf = new Map<string, number>();
  /** Turn in which each project wrote last: the project that has waited longest for its turn is next. */
  const lastTurns = new LRUCache<string, number>({ max: mostTurns });
  let turns = 0;
  /** Waiting requests by project; no list is empty. */
  const queues = new Map<string, Waiting<Item>[]>();
  let waiting = 0;
  let refused = 0;
  const underWay = (): number => most.atOnce - free.length;
  const count = (projectId: string, by: 1 | -1): void => {
    const sum = (writesOf.get(projectId) ?? 0) + by;
    if (sum === 0) writesOf.delete(projectId);
    else writesOf.set(projectId, sum);
  };
  const queueOf = (projectId: string): Waiting<Item>[] => queues.get(projectId) ?? [];
  const lastTurnOf = (projectId: string): number => lastTurns.get(projectId) ?? 0;
  const sizeOfAll = (queue: readonly Waiting<Item>[]): number =>
    queue.reduce((sum, { item }) => sum + sizeOf(item), 0);
  /** Returns true if a project must wait: it has all its writes, or one and too little for a second. */
  const isHeld = (projectId: string, queue: readonly Waiting<Item>[]): boolean => {
    const writes = writesOf.get(projectId) ?? 0;
    if (writes === 0 || writes >= most.ofProject) return writes > 0;
    return queue[0]?.isDue !== true && sizeOfAll(queue) < most.beside;
  };
  /** Returns the number of waiting requests in the next batch, counted from the first. */
  const lengthOfGroup = (queue: readonly Waiting<Item>[]): number => {
    if (isNarrow()) return 1;
    const [leader] = queue;
    let size = 0;
    const end = queue.findIndex(({ item }) => {
      size += sizeOf(item);
      return size > most.together || (leader && kindOf?.(item) !== kindOf?.(leader.item));
    });
    return end === -1 ? queue.length : Math.max(end, 1);
  };
  const start = (projectId: string, queue: Waiting<Item>[], place: number): void => {
    const [leader, ...others] = queue.splice(0, lengthOfGroup(queue));
    waiting -= 1 + others.length;
    if (queue.length === 0) queues.delete(projectId);
    turns += 1;
    lastTurns.set(projectId, turns);
    count(projectId, 1);
    leader?.resolve({ place, others });
  };
  const startNext = (): boolean => {
    if (underWay() >= (isNarrow() ? 1 : most.atOnce)) return false;
    let next: string | undefined;
    for (const [projectId, queue] of queues) {
      if (isHeld(projectId, queue)) continue;
      if (next === undefined || lastTurnOf(projectId) < lastTurnOf(next)) next = projectId;
    }
    const place = next === undefined ? undefined : free.pop();
    if (next === undefined || place === undefined) return false;
    start(next, queueOf(next), place);
    return true;
  };
  let widening: NodeJS.Timeout | undefined;
  const admit = (): void => {
    let hasStarted = true;
    while (hasStarted) hasStarted = startNext();
    if (waiting === 0 || widening !== undefined || !isNarrow()) return;
    widening = setTimeout(() => {
      widening = undefined;
      admit();
    }, narrowMs);
  };
  const waits = (one: Waiting<Item>): boolean => queueOf(one.projectId).includes(one);
  const refuse = (one: Waiting<Item>): void => {
    const left = queueOf(one.projectId).filter((other) => other !== one);
    if (left.length > 0) queues.set(one.projectId, left);
    else queues.delete(one.projectId);
    waiting -= 1;
    refused += 1;
    one.reject(overloaded());
  };
  /** Refuses one request if the queue is too long: the last of this project, or of the project with most requests. */
  const keepBounds = (projectId: string): void => {
    let longest = queueOf(projectId);
    if (longest.length <= most.waitingOfProject) {
      if (waiting <= most.waiting) return;
      for (const queue of queues.values()) if (queue.length > longest.length) longest = queue;
    }
    const last = longest.at(-1);
    if (last !== undefined) refuse(last);
  };
  const wait = async (one: Waiting<Item>): Promise<Group<Item> | undefined> => {
    queues.set(one.projectId, [...queueOf(one.projectId), one]);
    waiting += 1;
    admit();
    if (!waits(one)) return one.promise;
    keepBounds(one.projectId);
    const due = setTimeout(() => {
      one.isDue = true;
      admit();
    }, most.besideMs);
    const late = setTimeout(() => {
      if (waits(one)) refuse(one);
    }, most.waitMs);
    try {
      return await one.promise;
    } finally {
      clearTimeout(due);
      clearTimeout(late);
    }
  };
  const attempt = async (
    projectId: string,
    items: readonly Item[],
    turn: Turn,
  ): Promise<Failure | undefined> => {
    try {
      await write(projectId, items, turn);
      return undefined;
    } catch (error) {
      return { error };
    }
  };
  /**
   * Writes items and returns the failure of each, if any. A failed batch is retried by halves, down to the items that
   * fail.
   */
  const writeAll = async (
    projectId: string,
    items: readonly Item[],
    turn: Turn,
    until?: number,
  ): Promise<(Failure | undefined)[]> => {
    const failure = await attempt(projectId, items, turn);
    if (failure === undefined || items.length === 1 || !isOfItems(failure.error)) {
      return items.map(() => failure);
    }
    const end = until ?? performance.now() + most.againMs;
    const middle = Math.floor(items.length / 2);
    const failures: (Failure | undefined)[] = [];
    for (const half of [items.slice(0, middle), items.slice(middle)]) {
      const isOver = performance.now() > end;
      const became = isOver
        ? half.map(() => ({ error: overloaded(failure.error) }))
        : await writeAll(projectId, half, { ...turn, isAgain: true }, end);
      failures.push(...became);
    }
    return failures;
  };
  return {
    state: () => ({ underWay: underWay(), waiting, refused }),
    async pass(projectId, item) {
      const one = {
        projectId,
        item,
        isDue: false,
        ...Promise.withResolvers<Group<Item> | undefined>(),
      };
      const group = await wait(one);
      if (group === undefined) return;
      const { place, others } = group;
      const items = [one, ...others].map((each) => each.item);
      const [own, ...failures] = await writeAll(projectId, items, { place, isAgain: false });
      for (const [index, { resolve, reject }] of others.entries()) {
        const failure = failures[index];
        if (failure === undefined) resolve(undefined);
        else reject(failure.error);
      }
      free.push(place);
      count(projectId, -1);
      admit();
      if (own !== undefined) throw own.error;
    },
  };
};
