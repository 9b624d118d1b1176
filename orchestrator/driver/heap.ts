/**
 * Heap size of a world host, derived from its container's memory. Node's default would be half of that memory, or of
 * the whole machine without a container, and it would collect garbage late. That leaves too little for the user code
 * workers and for the rows, which SQLite keeps outside the heap.
 */
import { constants } from 'node:os';
import type { ContainerExit } from './driver.ts';

/** Heap's share of the container's memory. A host's full ledger takes 100 MiB of it, and the program 30. */
const heapShare = 3 / 8;

/** Share of the container's memory that one run of user code may take, in addition to the memory of its worker. */
const userCodeShare = 3 / 8;

/** Returns the memory for user code in a host with so much memory, both in MiB. */
export const userCodeMemoryMb = (memoryMb: number): number =>
  Math.max(16, Math.floor(memoryMb * userCodeShare));

/** Upper bound for each half of the young generation; larger ones save hardly any time. */
const mostSemiSpaceMb = 16;
const semiSpaceShare = 1 / 32;

/** Returns Node's options for a host with so much memory, in the format of `NODE_OPTIONS`. */
export const heapOptions = (memoryMb: number): string => {
  const semiSpaceMb = Math.min(mostSemiSpaceMb, Math.floor(memoryMb * semiSpaceShare));
  return [
    `--max-old-space-size=${Math.floor(memoryMb * heapShare)}`,
    `--max-semi-space-size=${Math.max(1, semiSpaceMb)}`,
  ].join(' ');
};

/**
 * Settings of the C library's allocator for memory outside the heap, most of it SQLite's: one arena for all threads,
 * and free memory returned to the system. The defaults would keep some 6 MB more of each host.
 */
export const mallocOptions: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: String(128 * 1024),
};

/** Signal of a host whose heap is full: V8 aborts the process, and nothing else in a host does. */
export const heapSignal = 'SIGABRT';

/** Exit status by which container engines report the signal `heapSignal`. */
export const heapStatus = 128 + constants.signals[heapSignal];

/** Exit of a host that was aborted because its heap was full. */
export const heapExit: ContainerExit = {
  reason: 'out_of_memory',
  detail: 'aborted: its heap was full',
};
