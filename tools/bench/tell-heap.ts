/**
 * Module that is preloaded into a program that a benchmark starts with `--expose-gc`. On SIGUSR2 it writes the
 * program's live heap in bytes to standard error, after a full collection. Resident memory would also include freed
 * space that the heap keeps.
 */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  process.stderr.write(`${JSON.stringify({ liveHeapBytes: process.memoryUsage().heapUsed })}\n`);
});
