import { describe, expect, it } from 'vitest';
import type { Queryable } from '../../db/core/database.ts';
import { createCallRate } from './call-rate.ts';

/** Creates the limit with a fake database that grants calls in blocks of 4, and at most 10 per minute. */
const bench = () => {
  let nowMs = 0;
  let asked = 0;
  const used = new Map<number, number>();
  const db: Queryable = {
    query: async <Row>() => {
      asked += 1;
      const minute = Math.floor(nowMs / 60_000);
      const granted = Math.min(4, 10 - (used.get(minute) ?? 0));
      used.set(minute, (used.get(minute) ?? 0) + granted);
      return [{ granted, most: 10, leftMs: 60_000 - (nowMs % 60_000) }] as Row[];
    },
  };
  const rate = createCallRate(db, 10, () => nowMs);
  const spendMany = async (count: number): Promise<number> => {
    const spent = await Promise.allSettled(
      Array.from({ length: count }, () => rate.spend('prj-1')),
    );
    return spent.filter(({ status }) => status === 'fulfilled').length;
  };
  return { rate, spendMany, asked: () => asked, pass: (ms: number) => (nowMs += ms) };
};

describe('the rate limit of calls', () => {
  it('is checked with one database query for many calls, also for concurrent calls', async () => {
    const { spendMany, asked } = bench();
    expect(await spendMany(4)).toBe(4);
    expect(asked()).toBe(1);
  });

  it('makes calls beyond the quota fail until the minute ends, without further queries', async () => {
    const { rate, spendMany, asked, pass } = bench();
    pass(20_000);
    expect(await spendMany(50)).toBe(10);
    expect(asked()).toBe(4);
    expect(await spendMany(50)).toBe(0);
    expect(asked()).toBe(4);
    await expect(rate.spend('prj-1')).rejects.toMatchObject({
      code: 'exhausted',
      detail: { quota: 'calls_per_minute', limit: 10, retryAfterMs: 40_000 },
    });
    pass(40_000);
    expect(await spendMany(3)).toBe(3);
  });

  it('does not carry unused tokens over to the next minute', async () => {
    const { spendMany, pass } = bench();
    expect(await spendMany(1)).toBe(1);
    pass(60_000);
    expect(await spendMany(50)).toBe(10);
  });
});
