/**
 * Returns memory to the system while the host is idle: the garbage that serving left in the heap, and the pages that V8
 * reserved for it. V8 itself returns them only when it needs memory again. That may never happen in a session whose
 * agent is thinking, and most sessions on a machine are idle.
 *
 * A collection takes about 30 ms. It therefore runs only after a quiet interval, and only if the heap has grown since
 * the last collection. A host that is busy, or gets one session after another, never collects.
 */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const mebibyte = 1024 ** 2;

/**
 * Interval of the checks, in milliseconds. The next constant is the share of the interval during which the event loop
 * of an idle host may be busy.
 */
const everyMs = 3_000;
const idleShare = 0.03;

/** Minimum growth of the heap, in bytes, that is worth a collection. */
const leastBytes = 3 * mebibyte;
/** Maximum size of the used heap, in bytes. Collecting a larger heap takes too long for the memory that it frees. */
const mostUsedBytes = 64 * mebibyte;

/** Functions that a check uses; tests replace them. */
export type HeapView = {
  heap(): { total_physical_size: number; used_heap_size: number };
  /** Returns the share of the time since the last call in which the event loop was busy. */
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

/** Makes the check, which collects garbage if the host is idle and the heap has grown. */
export const createLook = ({ heap, busyShare, collect }: HeapView): (() => void) => {
  let baselineBytes = 0;
  return () => {
    if (busyShare() > idleShare) return;
    const { total_physical_size: bytes, used_heap_size: usedBytes } = heap();
    if (bytes < baselineBytes + leastBytes || usedBytes > mostUsedBytes) return;
    collect();
    baselineBytes = heap().total_physical_size;
  };
};

/**
 * Returns V8's collector. Only contexts that are made after the flag is set have it. The flag is set when the collector
 * is first used: V8 rejects cached code that was compiled under other flags, so a flag set at the start would cost more
 * than it gains.
 */
const findCollector = (): NodeJS.GCFunction => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as NodeJS.GCFunction;
};

/** Starts the checks; returns a function that ends them. */
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
