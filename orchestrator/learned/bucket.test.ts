import { describe, expect, it } from 'vitest';
import { newBucket, refill, take } from './bucket.ts';

const rate = { perSecond: 2, burst: 4 };

describe('a bucket', () => {
  it('starts full, is emptied and refills at its rate up to its burst', () => {
    const empty = take(newBucket(rate, 0), 4);
    expect(empty.tokens).toBe(0);
    expect(refill(empty, rate, 250).tokens).toBe(0.5);
    expect(refill(empty, rate, 1_000).tokens).toBe(2);
    expect(refill(empty, rate, 60_000).tokens).toBe(4);
  });

  it('refills the same in one step as in many', () => {
    let bucket = take(newBucket(rate, 0), 4);
    for (let ms = 0; ms <= 1_500; ms += 100) bucket = refill(bucket, rate, ms);
    expect(bucket.tokens).toBeCloseTo(3);
  });

  it('never goes below empty, and refills only as time passes', () => {
    const bucket = take(newBucket(rate, 1_000), 9);
    expect(refill(bucket, rate, 500)).toEqual({ tokens: 0, atMs: 1_000 });
  });

  it('holds no more than a burst that has become smaller', () => {
    expect(refill(newBucket(rate, 0), { perSecond: 2, burst: 1 }, 10).tokens).toBe(1);
  });
});
