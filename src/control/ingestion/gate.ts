/**
 * How much is written of what agents did at once. What comes beyond that waits for a moment, and beyond a bound is
 * refused as `unavailable`: clients send it again soon, as they do not after a 429.
 */
import { AppError } from '#domain/error.ts';

export type Gate = {
  /**
   * Does the work when there is room, which is told its place: a number that nobody else has meanwhile. Throws
   * `unavailable` when too many wait.
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

/** Makes it: so many at once, and so many that wait. Places are numbered from `first` on. */
export const createGate = (most: { atOnce: number; waiting: number }, first = 0): Gate => {
  const free = Array.from({ length: most.atOnce }, (_, index) => first + index);
  const queue: ((place: number) => void)[] = [];
  let refused = 0;
  const enter = async (): Promise<number> => {
    const place = free.pop();
    if (place !== undefined) return place;
    if (queue.length < most.waiting) return new Promise((resolve) => queue.push(resolve));
    refused += 1;
    throw overloaded();
  };
  return {
    state: () => ({ underWay: most.atOnce - free.length, waiting: queue.length, refused }),
    async pass(work) {
      const place = await enter();
      try {
        return await work(place);
      } finally {
        const next = queue.shift();
        if (next === undefined) free.push(place);
        else next(place);
      }
    },
  };
};
