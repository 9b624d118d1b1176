/**
 * Gives session opens priority over ingestion on this replica: both use the same processors and database. A client
 * waits for its session, while telemetry exporters retry. So a writer waits before each batch, on the event loop or in
 * the database, while an open is in flight. For a while after an open it writes smaller batches. Neither holds up the
 * other for long: the priority of an open ends after a limited time even if its host takes longer, and a writer's
 * waits are limited in total.
 */

/** Time for which one open has priority, in milliseconds: by then its work here is done, or it waits for a host. */
const countsMs = 250;
/** Time for which priority lasts after an open, in milliseconds: its answer is sent before any writer continues. */
export const answeredMs = 4;
/** Time after the last open during which writers use smaller batches, in milliseconds. */
const recentMs = 5_000;
/** Total time that one piece of work waits for opens, in milliseconds. */
export const mostHeldMs = 1_000;

/**
 * Waits while an open is in flight, up to the rest of `mostHeldMs`. If an open finished recently, first lets the event
 * loop read pending requests, so that a new open is noticed.
 */
export type YieldToOpens = () => Promise<void>;

export type OpenPriority = {
  /** Runs the work of an open with priority. */
  during<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Returns true if an open is in flight or one finished within the last 5 s. */
  wasTaken(): boolean;
  /** Returns the wait function for one piece of work of a writer. */
  giving(): YieldToOpens;
};

/** Waits until the event loop has read all pending input. */
const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Creates the priority; `now` returns milliseconds. */
export const createOpenPriority = (now: () => number = () => performance.now()): OpenPriority => {
  const holders = new Set<symbol>();
  let waiting: (() => void)[] = [];
  let takenAt = Number.NEGATIVE_INFINITY;
  const leave = (holder: symbol): void => {
    holders.delete(holder);
    if (holders.size > 0) return;
    const all = waiting;
    waiting = [];
    for (const go of all) go();
  };
  const untilClear = (mostMs: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, mostMs);
      waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  const wasTaken = (): boolean => holders.size > 0 || now() - takenAt < recentMs;
  return {
    wasTaken,
    async during(work) {
      const holder = Symbol();
      holders.add(holder);
      takenAt = now();
      const timer = setTimeout(() => leave(holder), countsMs);
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        takenAt = now();
        setTimeout(() => leave(holder), answeredMs);
      }
    },
    giving() {
      let leftMs = mostHeldMs;
      return async () => {
        if (wasTaken()) await turnOfLoop();
        while (holders.size > 0 && leftMs > 0) {
          const since = now();
          await untilClear(leftMs);
          leftMs -= Math.max(now() - since, 1);
        }
      };
    },
  };
};
