/**
 * How much processor time each project may spend on compiling and checking: a bucket a project, that
 * what a job took is poured into when it has ended, and that leaks at a steady rate. While it is full,
 * the project's next jobs are refused, with when to come again.
 */

export type CompileBudget = {
  /** Milliseconds until the project may begin a job again; 0 when it may now. */
  waitMs(project: string): number;
  /** Notes what a job took. */
  spend(project: string, seconds: number): void;
};

type Bucket = { seconds: number; atMs: number };

/** Buckets from which on the empty ones are thrown away. */
const manyBuckets = 1_000;

/** Makes the buckets, each of which takes and leaks so many seconds in a minute. */
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
