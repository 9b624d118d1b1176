/**
 * First-in, first-out queue in front of the connections of the database. Its length and the time in it are limited; if
 * a limit is exceeded, an error of the queue is thrown. Without the queue, requests would wait in the driver, whose
 * error says that it cannot connect. That would be wrong for a database that works, and would make operators look in
 * the wrong place.
 */
import { AppError } from '#domain/error.ts';

export type ConnectionQueueLimits = {
  /** Maximum number of units of work that run at the same time (`served`), and that wait (`waiting`). */
  served: number;
  waiting: number;
  /** Maximum wait, in milliseconds. */
  waitMs: number;
};

export type ConnectionQueue = {
  /** Runs the work when a slot is free. Throws `exhausted` if the queue is full or the wait takes too long. */
  take<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Returns the number of units of work that wait. */
  waiting(): number;
};

const retryAfterMs = 1_000;

/** Builds the error for work that gets no slot in the queue. */
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
  /** Units of work that wait, in the order of arrival. Calling an entry starts its work. */
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

  /** Passes the slot on to the next waiting work; if none waits, frees it. */
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
