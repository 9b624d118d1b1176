/**
 * How much is written of what agents did at once, and what of it together. A request that comes alone is written at
 * once. What comes while another of its project is written waits a moment, or until there is much of it, and is
 * written in one transaction: who sends much sends many small requests, and each transaction costs as much as dozens
 * of spans. What waits beyond a bound is refused as `unavailable`: clients send it again soon, as they do not after a
 * 429.
 */
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
};

type Work<Item> = {
  /** Writes items of a project; `place` is a number that nobody else has meanwhile. */
  write(projectId: string, items: readonly Item[], place: number): Promise<void>;
  sizeOf(item: Item): number;
  /** Places are numbered from here on; default 0. */
  first?: number;
  /** While it is true, one write is under way at a time, of one request. */
  isNarrow?(): boolean;
};

/** A request: undefined ends its wait, as others have written it; with a turn it writes itself and those others. */
type Waiting<Item> = PromiseWithResolvers<Turn<Item> | undefined> & {
  projectId: string;
  item: Item;
  /** Whether it has waited for so long that it is written beside another write of its project. */
  isDue: boolean;
};

type Turn<Item> = { place: number; others: readonly Waiting<Item>[] };

type Failure = { error: unknown };

/** Whether a failure is of what was written, so that others written with it may fare better alone. */
const isOfItems = (error: unknown): boolean =>
  !(error instanceof AppError) || error.code === 'invalid';

/** Makes it. */
export const createGate = <Item>(
  most: Most,
  { write, sizeOf, first = 0, isNarrow = () => false }: Work<Item>,
): Gate<Item> => {
  const free = Array.from({ length: most.atOnce }, (_, index) => first + index);
  const ofProject = new Map<string, number>();
  const queue = new Set<Waiting<Item>>();
  let refused = 0;
  const underWay = (): number => most.atOnce - free.length;
  /** Whether a request waits on: its project has all its writes, or one, and too little for another. */
  const isHeld = ({ projectId, isDue }: Waiting<Item>): boolean => {
    const writes = ofProject.get(projectId) ?? 0;
    if (writes === 0 || writes >= most.ofProject) return writes > 0;
    if (isDue) return false;
    let size = 0;
    for (const one of queue) if (one.projectId === projectId) size += sizeOf(one.item);
    return size < most.beside;
  };
  const count = (projectId: string, by: 1 | -1): void => {
    const sum = (ofProject.get(projectId) ?? 0) + by;
    if (sum === 0) ofProject.delete(projectId);
    else ofProject.set(projectId, sum);
  };
  /** Those that are written with one that has its turn: the next of its project, in their order. */
  const othersOf = (leader: Waiting<Item>): Waiting<Item>[] => {
    const others: Waiting<Item>[] = [];
    if (isNarrow()) return others;
    let size = sizeOf(leader.item);
    for (const one of queue) {
      if (one === leader || one.projectId !== leader.projectId) continue;
      size += sizeOf(one.item);
      if (size > most.together) break;
      others.push(one);
    }
    return others;
  };
  const admit = (): void => {
    for (const leader of queue) {
      if (underWay() >= (isNarrow() ? 1 : most.atOnce)) return;
      if (isHeld(leader)) continue;
      const place = free.pop();
      if (place === undefined) return;
      count(leader.projectId, 1);
      const others = othersOf(leader);
      for (const one of [leader, ...others]) queue.delete(one);
      leader.resolve({ place, others });
    }
  };
  const waitingOf = (projectId: string): number =>
    [...queue].filter((one) => one.projectId === projectId).length;
  const refuse = (one: Waiting<Item>): void => {
    queue.delete(one);
    refused += 1;
    one.reject(overloaded());
  };
  const wait = async (one: Waiting<Item>): Promise<Turn<Item> | undefined> => {
    queue.add(one);
    admit();
    if (!queue.has(one)) return one.promise;
    if (queue.size > most.waiting || waitingOf(one.projectId) > most.waitingOfProject) refuse(one);
    const due = setTimeout(() => {
      one.isDue = true;
      admit();
    }, most.besideMs);
    const late = setTimeout(() => {
      if (queue.has(one)) refuse(one);
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
    place: number,
  ): Promise<Failure | undefined> => {
    try {
      await write(projectId, items, place);
      return undefined;
    } catch (error) {
      return { error };
    }
  };
  /** What became of each. */
  const writeAll = async (
    all: readonly Waiting<Item>[],
    { projectId }: Waiting<Item>,
    place: number,
  ): Promise<(Failure | undefined)[]> => {
    const items = all.map(({ item }) => item);
    const failure = await attempt(projectId, items, place);
    const isOfOne = items.length > 1 && failure !== undefined && isOfItems(failure.error);
    if (!isOfOne) return items.map(() => failure);
    const failures: (Failure | undefined)[] = [];
    for (const item of items) failures.push(await attempt(projectId, [item], place));
    return failures;
  };
  return {
    state: () => ({ underWay: underWay(), waiting: queue.size, refused }),
    async pass(projectId, item) {
      const one = {
        projectId,
        item,
        isDue: false,
        ...Promise.withResolvers<Turn<Item> | undefined>(),
      };
      const turn = await wait(one);
      if (turn === undefined) return;
      const { place, others } = turn;
      const [own, ...failures] = await writeAll([one, ...others], one, place);
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
