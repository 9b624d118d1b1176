/** A program for jobs that take as long as they are told, and tell which process did them. */
import { serveJobs } from '../../src/control/worlds/compile/serve-jobs.ts';

export type IdleJob = { kind: 'idle'; ms: number };

serveJobs(({ ms }: IdleJob): number => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  return process.pid;
});
