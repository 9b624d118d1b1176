import { describe, expect, it } from 'vitest';
import { createIds, type WorldIds } from './ids.ts';

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Returns a UUID and a number from each of three turns. */
const drawn = (ids: WorldIds): unknown[] =>
  [1, 2, 3].flatMap(() => {
    ids.begin();
    return [ids.uuid(), ids.integer()];
  });

describe('ids', () => {
  it('are the same under the same seed', () => {
    const ids = createIds(7);
    const first = drawn(ids);
    ids.reset();
    expect(drawn(ids)).toEqual(first);
    expect(drawn(createIds(7))).toEqual(first);
    expect(drawn(ids)).not.toEqual(first);
  });

  it('do not depend on how many ids an earlier turn drew', () => {
    const [many, none] = [createIds(7), createIds(7)];
    for (const ids of [many, none]) ids.begin();
    for (let draw = 0; draw < 10; draw += 1) many.uuid();
    for (const ids of [many, none]) ids.begin();
    expect(many.uuid()).toBe(none.uuid());
  });

  it('differ for neighbouring seeds and for neighbouring turns', () => {
    const seeds = [0, 1, 2, 7, 2 ** 32, 2 ** 32 + 7, 2 ** 40, Number.MAX_SAFE_INTEGER];
    const uuids = seeds.flatMap((seed) => {
      const ids = createIds(seed);
      return Array.from({ length: 100 }, () => {
        ids.begin();
        return [ids.uuid(), ids.uuid()];
      }).flat();
    });
    expect(new Set(uuids).size).toBe(uuids.length);
    expect(uuids.filter((uuid) => !uuidForm.test(uuid))).toEqual([]);
    const firstWords = new Set(uuids.map((uuid) => uuid.slice(0, 8)));
    expect(firstWords.size).toBeGreaterThan(uuids.length - 3);
  });

  it('are spread evenly over their range', () => {
    const ids = createIds(1);
    const numbers = Array.from({ length: 10_000 }, () => ids.integer());
    expect(numbers.every((number) => Number.isInteger(number) && number < 2 ** 48)).toBe(true);
    const mean = numbers.reduce((sum, number) => sum + number / 2 ** 48, 0) / numbers.length;
    expect(mean).toBeCloseTo(0.5, 1);
  });

  it('are random without a seed', () => {
    const ids = createIds(null);
    expect(ids.uuid()).toMatch(uuidForm);
    expect(drawn(ids)).not.toEqual(drawn(createIds(null)));
    expect(ids.integer()).toBeLessThan(2 ** 48);
  });
});
