/** How long to wait before the next attempt at what has failed. */

export type Backoff = {
  /** After the first failure, and at most after many, in milliseconds. */
  firstMs: number;
  mostMs: number;
};

/**
 * Milliseconds to wait after so many failures in a row: twice as long each time, up to the most, less up to
 * half of it by chance, so that those who failed together do not come back together.
 */
export const backoffMs = (failures: number, { firstMs, mostMs }: Backoff): number =>
  Math.min(firstMs * 2 ** (failures - 1), mostMs) * (0.5 + Math.random() / 2);
