/**
 * Time that passes only from one event to the next: what makes a simulation of minutes run in seconds, and
 * the same each time.
 */

export type VirtualTime = {
  /** Milliseconds since the beginning. */
  now(): number;
  /**
   * Runs a step after so many milliseconds; never when they are infinite. Steps of one moment run in the
   * order in which they were asked for.
   */
  after(ms: number, step: () => void): void;
  /** Runs what is due until a time, or until a condition holds after a step; answers whether it does. */
  runUntil(endMs: number, done?: () => boolean): boolean;
};

type Event = { atMs: number; order: number; step: () => void };

const isBefore = (a: Event, b: Event): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

/** A binary heap of events, the next one first. */
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

/** A clock at 0 with nothing to do. */
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
