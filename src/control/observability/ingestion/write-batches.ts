/**
 * How much is written of what agents did at once, and what of it together. A request that comes alone is written at
 * once. What comes while another of its project is written waits a moment, or until there is much of it, and is
 * written in one transaction: who sends much sends many small requests, and each transaction costs as much as dozens
 * of spans. Projects take turns, and none has all the room to wait. What finds no room is refused as `unavailable`:
 * clients send it again soon, as they do not after a 429.
 */
import { LRUCache } from 'lru-cache';
import { AppError } from '#domain/error.ts';

export type Gate<Item> = {
  /**
   * Has something of a project written. Throws what its write throws, and `unavailable` when too many wait, or for
   * too long.
   */
  pass(projectId: string, item: Item): Promise<void>;
  /** How many writes are under way, how many requests wait for one, and how many were refused so far. */
  state(): { underWay: number; waiting: number; refused: number };
};

const retryAfterMs = 1_000;

export const overloaded = (cause?: unknown): AppError =>
  new AppError('unavailable', 'too much is being ingested; send it again in a moment', {
    detail: { retryAfterMs },
    ...(cause === undefined ? {} : { cause }),
  });

type Most = {
  /** Writes under way at once, and those of one project. */
  atOnce: number;
  ofProject: number;
  /**
   * Another write of a project begins beside one that is under way once what waits for it comes to so much, by
   * `sizeOf`, or has waited for so long.
   */
  beside: number;
  besideMs: number;
  /** What is written together comes to so much, by `sizeOf`; what is larger is written alone. */
  together: number;
  /** Requests that wait, and of them those of one project. */
  waiting: number;
  waitingOfProject: number;
  /** A request waits for so long; then it is refused. */
  waitMs: number;
  /** What failed together is written again by parts for so long; what is left then is refused. */
  againMs: number;
};

/** What waits while the gate is narrow looks so often whether it still is. */
const narrowMs = 100;

/** Projects whose last turns are known. */
const mostTurns = 1_000;

/** How items are written. */
export type Turn = {
  /** A number that nobody else has meanwhile. */
  place: number;
  /** Whether it failed together with others, which wait for it now. */
  isAgain: boolean;
};

type Work<Item> = {
  write(projectId: string, items: readonly Item[], turn: Turn): Promise<void>;
  sizeOf(item: Item): number;
  /** Items are written together that are of one kind; default: all are. */
  kindOf?(item: Item): unknown;
  /** Whether a failure is of what was written, so that others written with it may fare better without it. */
  isOfItems(error: unknown): boolean;
  /** Places are numbered from here on; default 0. */
  first?: number;
  /** While it is true, one write is under way at a time, of one request. */
  isNarrow?(): boolean;
};

/** A request: undefined ends its wait, as others have written it; with a group it writes itself and those others. */
type Waiting<Item> = PromiseWithResolvers<Group<Item> | undefined> & {
  projectId: string;
  item: Item;
  /** Whether it has waited for so long that it is written beside another write of its project. */
  isDue: boolean;
};

type Group<Item> = { place: number; others: readonly Waiting<Item>[] };

type Failure = { error: unknown };

/** Makes it. */
export const createGate = <Item>(
  most: Most,
  { write, sizeOf, kindOf, isOfItems, first = 0, isNarrow = () => false }: Work<Item>,
): Gate<Item> => {
  const free = Array.from({ length: most.atOnce }, (_, index) => first + index);
  const writesOf = new Map<string, number>();
  /** When projects had their last turns: who had none for longest is next. */
  const lastTurns = new LRUCache<string, number>({ max: mostTurns });
  let turns = 0;
  /** Those that wait, by project; none of these is empty. */
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
  /** Whether a project waits on: it has all its writes, or one, and too little for another. */
  const isHeld = (projectId: string, queue: readonly Waiting<Item>[]): boolean => {
    const writes = writesOf.get(projectId) ?? 0;
    if (writes === 0 || writes >= most.ofProject) return writes > 0;
    return queue[0]?.isDue !== true && sizeOfAll(queue) < most.beside;
  };
  /** How many of those that wait are written together, from the first on. */
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
  /** Refuses one that there is no room for: the last of its project, or of the one that has most of the room. */
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
  /** What became of each. What failed together is tried again by halves, down to those that it failed for. */
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
