/**
 * Limits the processor time that each project spends on compiling and checking, with a leaky bucket for each project.
 * The time of a job that ended is added to the project's bucket, which drains at a constant rate. While the bucket is
 * full, further jobs of the project are refused; the error says when to retry.
 */

export type CompileBudget = {
  /** Returns the milliseconds until the project may start a job; 0 if it may start one now. */
  waitMs(project: string): number;
  /** Adds the processor time of a job that ended, in seconds. */
  spend(project: string, seconds: number): void;
};

type Bucket = { seconds: number; atMs: number };

/** Number of buckets at which the removal of empty buckets begins. */
const manyBuckets = 1_000;

/**
 * Creates the buckets. Each holds `secondsPerMinute` seconds of processor time, and drains by the same amount in a
 * minute.
 */
export const createCompileBudget = (
  secondsPerMinute: number,
  nowMs: () => number = () => performance.now(),
): CompileBudget => {
  const buckets = new Map<string, Bucket>();
  const leakPerMs = secondsPerMinute / 60_000;

  const levelOf = (project: string): number => {
    const bucket = buckets.get(project);
    if (bucket === undefined) return 0;
    return Math.max(0, bucket.seconds - (nowMs() - bucket.atMs) * leakPerMs);
  };

  const throwEmptyAway = (): void => {
    for (const project of buckets.keys()) if (levelOf(project) === 0) buckets.delete(project);
  };

  return {
    waitMs(project) {
      const excess = levelOf(project) - secondsPerMinute;
      return excess < 0 ? 0 : Math.max(1_000, Math.ceil(excess / leakPerMs));
    },
    spend(project, seconds) {
      if (buckets.size >= manyBuckets) throwEmptyAway();
      buckets.set(project, { seconds: levelOf(project) + seconds, atMs: nowMs() });
    },
  };
};
