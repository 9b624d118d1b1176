/**
 * Limits the session opens in flight, for one wish for a host, under overload. Opens share the processor time of their
 * servers, so admitting all of them would make all of them slow. Under overload, no more opens are in flight than the
 * throughput needs. By Little's law that is the number of opens served per second, times the seconds that an open takes
 * when it runs alone. Some headroom is added, because an open that waits for a disk leaves the processor to another
 * open.
 */
import { createRecentCount } from './recent-count.ts';

export type ConcurrencyLimit = {
  /** Records that an open was requested. */
  noteRequest(): void;
  /** Begins the overload state, which lasts until demand falls. */
  markOverload(): void;
  /** Returns true during the overload state. */
  isOverloaded(): boolean;
  /**
   * Returns true if one more open of this project would exceed the limit. Returns false for a project that has no open
   * in flight.
   */
  isFull(projectId: string): boolean;
  /** Records that an open was refused because of the limit. Overload continues if demand is still as high as before. */
  noteRefusal(): void;
  /**
   * Counts an open of this project as in flight until the returned function is called. The caller passes true to that
   * function if the open was served.
   */
  begin(projectId: string): (isServed: boolean) => void;
};

/** Time without excess demand after which overload ends, in milliseconds. */
const calmMs = 1_000;
/** Time window in which requests and served opens are counted, in milliseconds. */
const countedMs = 1_000;
/** Share of the best throughput below which demand is not overload. */
const bearableShare = 0.9;
/** Factor by which an open may take longer under overload than when it runs alone. */
const headroom = 1.5;
/** Smallest value of the limit. */
const leastInFlight = 2;
/**
 * Maximum number of stored durations of opens that ran alone. Their lower quartile is used, because other opens may
 * have started during some of them.
 */
const mostTimes = 64;
const quickShare = 0.25;

const quickOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * quickShare)] ?? 0;

/** Creates the concurrency limit for one wish for a host. */
export const createConcurrencyLimit = (now: () => number): ConcurrencyLimit => {
  const requested = createRecentCount(countedMs, now);
  const served = createRecentCount(countedMs, now);
  /** Latest durations of opens that began while no other was in flight, in milliseconds. */
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
