/**
 * Token bucket for launches ahead of demand. It fills at a steady rate up to its burst, so that a pool that is emptied
 * at once is not refilled at once.
 */

export type RefillRate = {
  perSecond: number;
  /** Maximum of tokens in a bucket; a new one is full. */
  burst: number;
};

export type Bucket = { tokens: number; atMs: number };

/** Returns a full bucket. */
export const newBucket = ({ burst }: RefillRate, atMs: number): Bucket => ({ tokens: burst, atMs });

/** Returns the bucket at a later time; a changed rate applies to the whole interval. */
export const refill = (
  { tokens, atMs }: Bucket,
  { perSecond, burst }: RefillRate,
  nowMs: number,
): Bucket => {
  const added = (Math.max(0, nowMs - atMs) / 1_000) * perSecond;
  return { tokens: Math.min(burst, tokens + added), atMs: Math.max(atMs, nowMs) };
};

/** Returns the bucket after this many launches; it never goes below zero. */
export const take = (bucket: Bucket, count: number): Bucket => ({
  ...bucket,
  tokens: Math.max(0, bucket.tokens - count),
});
