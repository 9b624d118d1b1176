/**
 * Virtual time that jumps from one event to the next, so that a simulation of minutes runs in
 * seconds, and identically each time.
 */

export type VirtualTime = {
  /** Milliseconds since the start. */
  now(): number;
  /**
   * Runs a step after this many milliseconds; never if the number is infinite. Steps due at the
   * same moment run in the order of their registration.
   */
  after(ms: number, step: () => void): void;
  /**
   * Runs due steps until a time, or until a condition holds after a step; returns whether it holds.
   */
  runUntil(endMs: number, done?: () => boolean): boolean;
};

type Event = { atMs: number; order: number; step: () => void };

const isBefore = (a: Event, b: Event): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** A binary heap of events, ordered by time. */
const createQueue = () => {
  const heap: Event[] = [];
  const at = (index: number): Event => heap[index] as Event;
  const swap = (a: number, b: number): void => {
    const event = at(a);
    heap[a] = at(b);
    heap[b] = event;
  };
  const sink = (from: number): void => {
    let index = from;
    for (;;) {
      let least = index;
      for (const child of [2 * index + 1, 2 * index + 2]) {
        if (child < heap.length && isBefore(at(child), at(least))) least = child;
      }
      if (least === index) return;
      swap(index, least);
      index = least;
    }
  };
  return {
    peek: (): Event | undefined => heap[0],
    add(event: Event): void {
      let index = heap.push(event) - 1;
      for (let parent = (index - 1) >> 1; index > 0 && isBefore(at(index), at(parent)); ) {
        swap(index, parent);
        index = parent;
        parent = (index - 1) >> 1;
      }
    },
    take(): void {
      const last = heap.pop();
      if (last === undefined || heap.length === 0) return;
      heap[0] = last;
      sink(0);
    },
  };
};

/** Creates a clock at 0 without events. */
export const createVirtualTime = (): VirtualTime => {
  const queue = createQueue();
  let now = 0;
  let order = 0;
  return {
    now: () => now,
    after(ms, step) {
      if (!Number.isFinite(ms)) return;
      order += 1;
      queue.add({ atMs: now + Math.max(0, ms), order, step });
    },
    runUntil(endMs, done = () => false) {
      for (;;) {
        if (done()) return true;
        const event = queue.peek();
        if (event === undefined || event.atMs > endMs) break;
        queue.take();
        now = event.atMs;
        event.step();
      }
      now = Math.max(now, endMs);
      return done();
    },
  };
};
