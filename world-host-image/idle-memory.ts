/**
 * Gives memory back while nobody asks for anything: what serving left behind in the heap, and the room that V8
 * took to make it. By itself V8 keeps both until it needs them, which in a session that an agent thinks about is
 * never; and idle sessions are what a machine holds most of.
 *
 * A collection takes some 30 ms, so there is one only after a quiet while, and only when the heap has grown since
 * the last. A host that is busy, or given one session after another, never comes to it.
 */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const mebibyte = 1024 ** 2;

/** How often the host looks, and what part of that time may be work of a host that counts as idle. */
const everyMs = 3_000;
const idleShare = 0.03;

/** Less is not worth a collection. */
const leastBytes = 3 * mebibyte;
/** Of a heap that holds more, a collection would take long for what it gives. */
const mostUsedBytes = 64 * mebibyte;

/** What it looks at, for tests. */
export type HeapView = {
  heap(): { total_physical_size: number; used_heap_size: number };
  /** What part of the time since the last look was work. */
  busyShare(): number;
  collect(): void;
};

const watchLoop = (): (() => number) => {
  let before = performance.eventLoopUtilization();
  return () => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    return utilization;
  };
};

/** A look that collects if it is time for it. */
export const createLook = ({ heap, busyShare, collect }: HeapView): (() => void) => {
  let keptBytes = 0;
  return () => {
    if (busyShare() > idleShare) return;
    const { total_physical_size: bytes, used_heap_size: usedBytes } = heap();
    if (bytes < keptBytes + leastBytes || usedBytes > mostUsedBytes) return;
    collect();
    keptBytes = heap().total_physical_size;
  };
};

/**
 * V8's collector. It is shown to contexts made after the flag is set, and the flag is set when it is first needed: code
 * that was compiled ahead under other flags is not taken, so at the start it would cost more than it gives.
 */
const findCollector = (): NodeJS.GCFunction => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as NodeJS.GCFunction;
};

/** Begins to look; answers what ends it. */
export const giveBackWhenIdle = (): (() => void) => {
  let gc: NodeJS.GCFunction | undefined;
  const look = createLook({
    heap: getHeapStatistics,
    busyShare: watchLoop(),
    collect() {
      gc ??= findCollector();
      gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    },
  });
  const timer = setInterval(look, everyMs).unref();
  return () => clearInterval(timer);
};
