/**
 * Rate limits per minute, by name. The database enforces each limit for all replicas together. A control plane reserves
 * a batch of tokens in the database and then spends the tokens without the database. So most requests need no
 * statement, and replicas do not all write the same row for each request.
 */

/**
 * Tokens that the database granted from a limit of `most` in the current minute, which ends in `leftMs` milliseconds.
 * `untaken` is the number of tokens that the database can still grant.
 */
export type Taken = { granted: number; untaken: number; most: number; leftMs: number };

/** Batch of tokens with the number that is left, valid until this process's clock shows `endsAt`. */
type Bucket = Taken & { left: number; endsAt: number };

export type Spent = {
  /** False if no token is left in this minute. */
  isSpent: boolean;
  most: number;
  /** Number of remaining tokens as far as this replica knows. */
  remaining: number;
  /** Time until the minute ends, in milliseconds. */
  endsInMs: number;
};

export type TokenBuckets = { spend(name: string, most: number): Promise<Spent> };

/** Number of batches in memory at which the removal of batches of past minutes begins. */
const mostBuckets = 1_000;

export const createTokenBuckets = (
  takeFrom: (name: string, most: number) => Promise<Taken>,
  now: () => number = () => performance.now(),
): TokenBuckets => {
  const buckets = new Map<string, Bucket>();
  const taking = new Map<string, Promise<Bucket>>();

  const forgetPast = (): void => {
    if (buckets.size < mostBuckets) return;
    for (const [name, { endsAt }] of buckets) if (endsAt <= now()) buckets.delete(name);
  };

  const take = async (name: string, most: number): Promise<Bucket> => {
    const taken = await takeFrom(name, most);
    forgetPast();
    const bucket = { ...taken, left: taken.granted, endsAt: now() + taken.leftMs };
    buckets.set(name, bucket);
    return bucket;
  };

  /** Reserves a batch of tokens. For each name, only one reservation runs at a time; concurrent callers share it. */
  const takeOnce = (name: string, most: number): Promise<Bucket> => {
    const underWay = taking.get(name);
    if (underWay !== undefined) return underWay;
    const begun = take(name, most).finally(() => taking.delete(name));
    taking.set(name, begun);
    return begun;
  };

  const spentOf = (bucket: Bucket, isSpent: boolean): Spent => ({
    isSpent,
    most: bucket.most,
    remaining: bucket.left + bucket.untaken,
    endsInMs: Math.max(1, Math.ceil(bucket.endsAt - now())),
  });

  return {
    async spend(name, most) {
      let bucket = buckets.get(name);
      // A refusal by the database is cached until the minute ends.
      while (
        bucket === undefined ||
        bucket.endsAt <= now() ||
        (bucket.left === 0 && bucket.granted > 0)
      ) {
        bucket = await takeOnce(name, most);
      }
      if (bucket.left === 0) return spentOf(bucket, false);
      bucket.left -= 1;
      return spentOf(bucket, true);
    },
  };
};
