/**
 * Preloaded into a program that a benchmark starts with `--expose-gc`: on SIGUSR2 it writes its live heap in bytes to
 * standard error, after a full collection. Resident memory also includes freed space that the heap keeps.
 */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  process.stderr.write(`${JSON.stringify({ liveHeapBytes: process.memoryUsage().heapUsed })}\n`);
});
