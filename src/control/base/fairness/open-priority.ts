/**
 * Who goes first. Sessions that are opened and what agents did share processors and a database, and somebody waits for
 * a session, while clients that tell what was done try again. So writers ask here before each piece of work, be it on the
 * loop that all requests share or in the database, and wait while a session is being opened; and they do less at once
 * for a while after one was. Neither holds the other back for
 * long: an open counts for a moment, however long its host takes, and a writer waits for so long in all.
 */

/** An open counts for so long at most: what it takes here is done by then, or it waits for a host. */
const countsMs = 250;
/** And for so long after it: what it is answered is on its way by then, and no writer's work comes before that. */
export const answeredMs = 4;
/** After the last open writers do less at once for so long. */
const recentMs = 5_000;
/** A writer waits for so long in all. */
export const mostHeldMs = 1_000;

/**
 * Waits while somebody else is to go first, for what is left of the time that a writer waits in all. Where somebody went
 * first lately, it looks for who has come meanwhile: whatever has arrived is read before.
 */
export type GiveWay = () => Promise<void>;

export type OpenPriority = {
  /** Does what goes first. */
  during<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Whether somebody went first just now. */
  wasTaken(): boolean;
  /** For one piece of work of a writer. */
  giving(): GiveWay;
};

/** Until the loop has read all that arrived. */
const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Makes it; the clock is given in milliseconds. */
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
