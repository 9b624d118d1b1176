/**
 * Gives session opens priority over telemetry ingestion on this replica, because both use the same processors and the
 * same database. A client waits for its session, while telemetry exporters retry. So while an open is in flight, a
 * writer of telemetry waits before each batch. For some time after an open, it writes smaller batches. Opens and
 * writers never block each other for long: the priority of an open ends after a limited time even if its host takes
 * longer, and the total wait of a writer is limited.
 */

/**
 * Time for which one open has priority, in milliseconds. By then either the open's work on this replica is done, or the
 * open waits for a host.
 */
const countsMs = 250;
/**
 * Time for which the priority continues after an open, in milliseconds. It ensures that the open's answer is sent
 * before a writer continues.
 */
export const answeredMs = 4;
/** Time after the last open during which writers use smaller batches, in milliseconds. */
const recentMs = 5_000;
/** Maximum total time for which one piece of work waits for opens, in milliseconds. */
export const mostHeldMs = 1_000;

/**
 * Waits while an open is in flight, for as long as the work's total wait stays within `mostHeldMs`. If an open finished
 * recently, first lets the event loop read pending requests, so that a new open is noticed.
 */
export type YieldToOpens = () => Promise<void>;

export type OpenPriority = {
  /** Runs the work of an open, and gives the open priority meanwhile. */
  during<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Returns true if an open is in flight or one finished within the last 5 s. */
  wasTaken(): boolean;
  /** Returns the wait function for one piece of a writer's work. */
  giving(): YieldToOpens;
};

/** Waits until the event loop has read all pending input. */
const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Creates the priority of opens; `now` returns milliseconds. */
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
