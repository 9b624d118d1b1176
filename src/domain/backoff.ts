/** Exponential backoff with jitter between attempts. */

export type Backoff = {
  /** Delay after the first failure, and its upper bound, in milliseconds. */
  firstMs: number;
  mostMs: number;
};

/**
 * Returns the delay before the next attempt, in milliseconds. The delay doubles with each failure up to the upper
 * bound. Random jitter subtracts up to half of the delay, so that clients that failed together do not retry together.
 */
export const backoffMs = (failures: number, { firstMs, mostMs }: Backoff): number =>
  Math.min(firstMs * 2 ** (failures - 1), mostMs) * (0.5 + Math.random() / 2);
