import { describe, expect, it } from 'vitest';
import { testPool } from '#test/support/pools.ts';
import { createPoolMemory } from './pool-memory.ts';

describe('a pool whose target follows demand', () => {
  const observation = {
    view: {
      revision: '1',
      hosts: [],
      waiting: [{ tier: 'standard', isolation: null, size: 'standard', count: 500 } as const],
      worlds: [],
    },
    containers: [],
    busy: new Map(),
    steadyMs: 60_000,
  };
  const world = 'acme/tests/first';
  const targetOf = (changes: Parameters<typeof testPool>[0]): number | undefined => {
    const memory = createPoolMemory({ now: () => 0, digestOf: () => 'one' });
    const pools = [testPool({ minimum: 2, maximum: 10, target: 'auto', ...changes })];
    const [settings] = memory.learn(observation, pools);
    expect(memory.statuses()).toMatchObject([{ target: settings?.target }]);
    return settings?.target;
  };

  it('goes up to the maximum, and no further than the worlds leave room that it keeps', () => {
    expect(targetOf({})).toBe(10);
    expect(targetOf({ worlds: [{ world, hosts: 3 }] })).toBe(7);
    expect(targetOf({ worlds: [{ world, hosts: 8 }] })).toBe(2);
    expect(targetOf({ target: 9, worlds: [{ world, hosts: 1 }] })).toBe(9);
  });
});
