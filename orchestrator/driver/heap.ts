/**
 * The heap that a world host may have, by the memory of its container. Node would make it half of that,
 * or of the whole machine where there is no container, and collect garbage late: too much beside the
 * workers for user code, and the rows, which SQLite keeps outside of the heap.
 */
import { constants } from 'node:os';
import type { ContainerExit } from './driver.ts';

/** Of the container's memory. A full ledger of a host takes 100 MiB of it, and the program 30. */
const heapShare = 3 / 8;

/** Of the container's memory, for what one run of user code takes beside its worker's own. */
const userCodeShare = 3 / 8;

/** The memory that user code may have in a host with so much. */
export const userCodeMemoryMb = (memoryMb: number): number =>
  Math.max(16, Math.floor(memoryMb * userCodeShare));

/** New objects are collected in two halves of this size; larger ones hardly save any time. */
const mostSemiSpaceMb = 16;
const semiSpaceShare = 1 / 32;

/** The options of Node for a host with so much memory, as `NODE_OPTIONS` takes them. */
export const heapOptions = (memoryMb: number): string => {
  const semiSpaceMb = Math.min(mostSemiSpaceMb, Math.floor(memoryMb * semiSpaceShare));
  return [
    `--max-old-space-size=${Math.floor(memoryMb * heapShare)}`,
    `--max-semi-space-size=${Math.max(1, semiSpaceMb)}`,
  ].join(' ');
};

/**
 * What the C library is told of a host's memory outside of the heap, most of it SQLite's: one place to take it
 * from for all threads, and back to the system with what is free. By itself it keeps some 6 MB of each host.
 */
export const mallocOptions: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_TRIM_THRESHOLD_: String(128 * 1024),
};

/** V8 aborts a process whose heap is full; nothing else in a host does. */
export const heapSignal = 'SIGABRT';

/** The exit status by which engines tell of that signal. */
export const heapStatus = 128 + constants.signals[heapSignal];

/** How a host ended that was aborted. */
export const heapExit: ContainerExit = {
  reason: 'out_of_memory',
  detail: 'aborted: its heap was full',
};
