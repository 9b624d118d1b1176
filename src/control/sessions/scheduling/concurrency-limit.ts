/**
 * Concurrency limit for session opens of one wish under overload. Opens share the processor time of their servers, so
 * admitting all of them would make all slow. Under overload no more are in flight than the throughput needs. By
 * Little's law that is the number served per second, times the seconds that an open takes alone. Some headroom is
 * added, because an open that waits for a disk leaves the processor to another.
 */
import { createRecentCount } from './recent-count.ts';

export type ConcurrencyLimit = {
  /** Records that an open was requested. */
  noteRequest(): void;
  /** Marks overload from now on, until it is over. */
  markOverload(): void;
  /** Returns true under overload. */
  isOverloaded(): boolean;
  /** Returns true if another open of this project would exceed the limit; never for a project without one in flight. */
  isFull(projectId: string): boolean;
  /** Records that an open was refused as full; overload continues if demand is as high as before. */
  noteRefusal(): void;
  /** Counts an open of this project as in flight until the returned function is called, with true if it was served. */
  begin(projectId: string): (isServed: boolean) => void;
};

/** Overload ends after this time without excess demand, in milliseconds. */
const calmMs = 1_000;
/** Window in which requests and served opens are counted, in milliseconds. */
const countedMs = 1_000;
/** Demand below this share of the best throughput is not overload. */
const bearableShare = 0.9;
/** Headroom: factor by which an open may take longer under overload than alone. */
const headroom = 1.5;
/** Lower bound of the limit. */
const leastInFlight = 2;
/**
 * Number of measurements of opens that run alone. Their lower quartile counts, since other opens may have started
 * during some of them.
 */
const mostTimes = 64;
const quickShare = 0.25;

const quickOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * quickShare)] ?? 0;

/** Creates the limit of one wish. */
export const createConcurrencyLimit = (now: () => number): ConcurrencyLimit => {
  const requested = createRecentCount(countedMs, now);
  const served = createRecentCount(countedMs, now);
  /** Latest durations of opens that began with no other in flight, in milliseconds. */
  const aloneMs: number[] = [];
  const inFlight = new Map<string, number>();
  let all = 0;
  let overloadedAt: number | undefined;
  let mostServed = 0;
  let usualMs = 0;

  const isOverloaded = (): boolean => overloadedAt !== undefined && now() - overloadedAt < calmMs;

  /** Returns the number of opens that may be in flight. */
  const bound = (): number => {
    const perMs = served.count() / countedMs;
    return Math.max(leastInFlight, Math.round(headroom * perMs * usualMs));
  };

  const end = (projectId: string, beganAt: number, wasAlone: boolean, isServed: boolean): void => {
    all -= 1;
    const left = (inFlight.get(projectId) ?? 1) - 1;
    if (left === 0) inFlight.delete(projectId);
    else inFlight.set(projectId, left);
    if (!isServed) return;
    served.add();
    if (isOverloaded()) mostServed = Math.max(mostServed, served.count());
    else if (wasAlone) {
      aloneMs.push(now() - beganAt);
      if (aloneMs.length > mostTimes) aloneMs.shift();
    }
  };

  return {
    noteRequest: requested.add,
    isOverloaded,
    markOverload() {
      if (!isOverloaded()) {
        mostServed = served.count();
        usualMs = quickOf(aloneMs);
      }
      overloadedAt = now();
    },
    isFull: (projectId) => isOverloaded() && inFlight.has(projectId) && all >= bound(),
    noteRefusal() {
      if (requested.count() > bearableShare * mostServed) overloadedAt = now();
    },
    begin(projectId) {
      const beganAt = now();
      const wasAlone = all === 0 && !isOverloaded();
      all += 1;
      inFlight.set(projectId, (inFlight.get(projectId) ?? 0) + 1);
      return (isServed) => end(projectId, beganAt, wasAlone, isServed);
    },
  };
};
