/**
 * How much is written of what agents did at once. What comes beyond that waits for a moment, and beyond a bound is
 * refused as `unavailable`: clients send it again soon, as they do not after a 429.
 */
import { AppError } from '#domain/error.ts';

export type Gate = {
  /**
   * Does the work when there is room, which is told its place: a number that nobody else has meanwhile. Throws
   * `unavailable` when too many wait, or for too long.
   */
  pass<Value>(work: (place: number) => Promise<Value>): Promise<Value>;
  /** How many are under way and wait, and how many were refused so far. */
  state(): { underWay: number; waiting: number; refused: number };
};

const retryAfterMs = 1_000;

export const overloaded = (cause?: unknown): AppError =>
  new AppError('unavailable', 'too much is being ingested; send it again in a moment', {
    detail: { retryAfterMs },
    ...(cause === undefined ? {} : { cause }),
  });

type Most = {
  /** Under way at once. */
  atOnce: number;
  /** Waiting. */
  waiting: number;
  /** Waits for so long; then it is refused. */
  waitMs: number;
};

/**
 * Makes it. Places are numbered from `first` on; while `isNarrow` there is one at a time, of whatever is not under way
 * yet.
 */
export const createGate = (
  most: Most,
  { first = 0, isNarrow = () => false }: { first?: number; isNarrow?: () => boolean } = {},
): Gate => {
  const free = Array.from({ length: most.atOnce }, (_, index) => first + index);
  const queue = new Set<(place: number) => void>();
  let refused = 0;
  const underWay = (): number => most.atOnce - free.length;
  const admit = (): void => {
    for (const enter of queue) {
      if (underWay() >= (isNarrow() ? 1 : most.atOnce)) return;
      const place = free.pop();
      if (place === undefined) return;
      queue.delete(enter);
      enter(place);
    }
  };
  const refuse = (): AppError => {
    refused += 1;
    return overloaded();
  };
  const waitForPlace = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const enter = (place: number): void => {
        clearTimeout(timer);
        resolve(place);
      };
      const timer = setTimeout(() => {
        queue.delete(enter);
        reject(refuse());
      }, most.waitMs);
      queue.add(enter);
      admit();
      if (queue.has(enter) && queue.size > most.waiting) {
        queue.delete(enter);
        clearTimeout(timer);
        reject(refuse());
      }
    });
  return {
    state: () => ({ underWay: underWay(), waiting: queue.size, refused }),
    async pass(work) {
      const place = await waitForPlace();
      try {
        return await work(place);
      } finally {
        free.push(place);
        admit();
      }
    },
  };
};
