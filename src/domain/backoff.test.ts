import { describe, expect, it } from 'vitest';
import { backoffMs } from './backoff.ts';

const bounds = { firstMs: 50, mostMs: 2_000 };

describe('a pause before the next attempt', () => {
  it.each([
    [1, 50],
    [2, 100],
    [6, 1_600],
    [7, 2_000],
    [5_000, 2_000],
  ])('after %d failures lasts between half of %d ms and the whole of it', (failures, longest) => {
    for (let time = 0; time < 50; time += 1) {
      const ms = backoffMs(failures, bounds);
      expect(ms).toBeGreaterThanOrEqual(longest / 2);
      expect(ms).toBeLessThanOrEqual(longest);
    }
  });
});
