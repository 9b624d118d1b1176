/**
 * How much is written of what agents did at once. What comes beyond that waits for a moment, and beyond a bound is
 * refused as `unavailable`: clients send it again soon, as they do not after a 429.
 */
import { AppError } from '#domain/error.ts';

export type Gate = {
  /** Does the work when there is room. Throws `unavailable` when too many wait. */
  pass<Value>(work: () => Promise<Value>): Promise<Value>;
};

const retryAfterMs = 1_000;

export const overloaded = (cause?: unknown): AppError =>
  new AppError('unavailable', 'too much is being ingested; send it again in a moment', {
    detail: { retryAfterMs },
    ...(cause === undefined ? {} : { cause }),
  });

/** Makes it: so many at once, and so many that wait. */
export const createGate = (most: { atOnce: number; waiting: number }): Gate => {
  const queue: (() => void)[] = [];
  let underWay = 0;
  const leave = (): void => {
    const next = queue.shift();
    if (next === undefined) underWay -= 1;
    else next();
  };
  return {
    async pass(work) {
      if (underWay < most.atOnce) underWay += 1;
      else if (queue.length >= most.waiting) throw overloaded();
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
};
