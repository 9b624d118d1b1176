/**
 * First-in, first-out queue in front of the connections of the database. It is bounded in length and in waiting time,
 * and throws an error of its own when it is full. Without it, requests would wait in the driver, which reports that it
 * cannot connect. That error is wrong for a database that works, and would send operators looking in the wrong place.
 */
import { AppError } from '#domain/error.ts';

export type ConnectionQueueLimits = {
  /** Largest number of units of work that run at once (`served`), and that wait (`waiting`). */
  served: number;
  waiting: number;
  /** Longest wait, in milliseconds. */
  waitMs: number;
};

export type ConnectionQueue = {
  /** Runs the work when a slot is free. Throws `exhausted` when the queue is full or the wait takes too long. */
  take<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Returns the number of waiters. */
  waiting(): number;
};

const retryAfterMs = 1_000;

/** Builds the error for work that the queue has no slot for. */
export const queueFull = (): AppError =>
  new AppError('exhausted', 'too many requests wait for the database; try again in a moment', {
    detail: { retryAfterMs },
  });

/** Creates an empty queue. */
export const createConnectionQueue = ({
  served,
  waiting: mostWaiting,
  waitMs,
}: ConnectionQueueLimits): ConnectionQueue => {
  /** Waiting requests, in order of arrival. */
  const waiting = new Set<() => void>();
  let underWay = 0;

  const arrive = (): Promise<void> | undefined => {
    if (underWay < served) {
      underWay += 1;
      return undefined;
    }
    if (waiting.size >= mostWaiting) throw queueFull();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      waiting.delete(begin);
      reject(queueFull());
    }, waitMs);
    const begin = (): void => {
      clearTimeout(timer);
      resolve();
    };
    waiting.add(begin);
    return promise;
  };

  /** Hands the slot to the next waiter, or frees it. */
  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      underWay -= 1;
      return;
    }
    waiting.delete(next);
    next();
  };

  return {
    waiting: () => waiting.size,
    async take(work) {
      const turn = arrive();
      if (turn !== undefined) await turn;
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
};
