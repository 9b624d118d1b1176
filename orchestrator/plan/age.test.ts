import { describe, expect, it } from 'vitest';
import { ageLimitMs } from './age.ts';

const names = Array.from({ length: 10_000 }, (_, index) => `hst_${index}`);

describe('ageLimitMs', () => {
  it('spreads hosts evenly over the jitter, even if their names are alike', () => {
    const tenths = new Array<number>(10).fill(0);
    for (const name of names) {
      const limit = ageLimitMs(name, 1_000, 0.2);
      expect(limit).toBeGreaterThan(800);
      expect(limit).toBeLessThanOrEqual(1_000);
      const tenth = Math.min(9, Math.floor((limit - 800) / 20));
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) expect(count).toBeGreaterThan(850);
  });

  it('returns the same limit at each call, and the exact one without jitter', () => {
    expect(ageLimitMs('hst_1', 1_000, 0.5)).toBe(ageLimitMs('hst_1', 1_000, 0.5));
    expect(ageLimitMs('hst_1', 1_000, 0)).toBe(1_000);
  });
});
