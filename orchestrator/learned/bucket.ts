/**
 * A token bucket: how many launches that nobody waits for may begin now. It fills at a steady rate up
 * to its burst, so that a pool that is emptied at once is not filled at once.
 */

export type RefillRate = {
  perSecond: number;
  /** What a bucket holds at most; a new one is full. */
  burst: number;
};

export type Bucket = { tokens: number; atMs: number };

/** A full bucket. */
export const newBucket = ({ burst }: RefillRate, atMs: number): Bucket => ({ tokens: burst, atMs });

/** The bucket at a later time; a rate that has changed since goes for the whole of that time. */
export const refill = (
  { tokens, atMs }: Bucket,
  { perSecond, burst }: RefillRate,
  nowMs: number,
): Bucket => {
  const added = (Math.max(0, nowMs - atMs) / 1_000) * perSecond;
  return { tokens: Math.min(burst, tokens + added), atMs: Math.max(atMs, nowMs) };
};

/** The bucket after launches took theirs; it never owes any. */
export const take = (bucket: Bucket, count: number): Bucket => ({
  ...bucket,
  tokens: Math.max(0, bucket.tokens - count),
});
