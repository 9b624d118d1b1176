/** A program for jobs of a given duration, each of which returns its process id. */
import { serveJobs } from '../../../src/control/worlds/compile/serve-jobs.ts';

export type IdleJob = { kind: 'idle'; ms: number };

serveJobs(({ ms }: IdleJob): number => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  return process.pid;
});
