/**
 * The line before the database's connections: who comes first is served first. It is bounded in length and
 * in time, and says itself when it is full. Without it requests would wait in the driver, which then says
 * that no connection could be made: of a database that does its work that is not true, and whoever is told
 * so asks the wrong people.
 */
import { AppError } from '#domain/error.ts';

export type ConnectionQueueLimits = {
  /** How many are served at once, and how many may wait. */
  served: number;
  waiting: number;
  /** How long one may wait, in milliseconds. */
  waitMs: number;
};

export type ConnectionQueue = {
  /** Does the work when its time has come; throws `exhausted` when too many wait, or for too long. */
  take<Value>(work: () => Promise<Value>): Promise<Value>;
  /** How many wait. */
  waiting(): number;
};

const retryAfterMs = 1_000;

/** What is said to those that there is no room for. */
export const tooManyWait = (): AppError =>
  new AppError('exhausted', 'too much is asked of the service at once; try again in a moment', {
    detail: { retryAfterMs },
  });

/** Makes an empty line. */
export const createConnectionQueue = ({
  served,
  waiting: mostWaiting,
  waitMs,
}: ConnectionQueueLimits): ConnectionQueue => {
  /** In the order in which they came. */
  const waiting = new Set<() => void>();
  let underWay = 0;

  const arrive = (): Promise<void> | undefined => {
    if (underWay < served) {
      underWay += 1;
      return undefined;
    }
    if (waiting.size >= mostWaiting) throw tooManyWait();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      waiting.delete(begin);
      reject(tooManyWait());
    }, waitMs);
    const begin = (): void => {
      clearTimeout(timer);
      resolve();
    };
    waiting.add(begin);
    return promise;
  };

  /** Whoever waits next takes the place of the one that ends. */
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
