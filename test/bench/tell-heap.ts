/**
 * Loaded before a program that a benchmark starts with `--expose-gc`: on SIGUSR2 it says on stderr how many bytes of its
 * heap are alive, after a full collection. What a process resides in also has room that its heap took once.
 */
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  process.stderr.write(`${JSON.stringify({ liveHeapBytes: process.memoryUsage().heapUsed })}\n`);
});
