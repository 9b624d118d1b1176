import { describe, expect, it } from 'vitest';
import { testPool } from '#test/support/orchestrator/pools.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import type { Observation } from '../plan/terms.ts';
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

  it('has a target that rises to the maximum, less the hosts for the worlds that the pool preloads', () => {
    expect(targetOf({})).toBe(10);
    expect(targetOf({ worlds: [{ world, hosts: 3 }] })).toBe(7);
    expect(targetOf({ worlds: [{ world, hosts: 8 }] })).toBe(2);
    expect(targetOf({ target: 9, worlds: [{ world, hosts: 1 }] })).toBe(9);
  });
});

describe('sessions that wait', () => {
  const host = (id: string, state: PoolHost['state'], pool: string): PoolHost => ({
    id,
    pool,
    state,
    sessionId: null,
    stateAgeMs: 60_000,
    silentMs: 0,
    ageMs: 60_000,
    launched: true,
    versionId: null,
    uses: 0,
  });
  const observe = (hosts: PoolHost[]): Observation => ({
    view: {
      revision: '1',
      hosts,
      waiting: [{ tier: 'standard', isolation: null, size: 'standard', count: 500 }],
      worlds: [],
    },
    containers: [],
    busy: new Map(),
    steadyMs: 60_000,
  });
  const shape = { minimum: 1, maximum: 10, target: 'auto' } as const;
  const [first, second] = [
    testPool({ pool: 'first', ...shape }),
    testPool({ pool: 'second', ...shape, maximum: 600 }),
  ];
  const quiet = (hosts: PoolHost[]): Observation => {
    const observation = observe(hosts);
    return { ...observation, view: { ...observation.view, waiting: [] } };
  };
  let now = 0;
  const remember = () => createPoolMemory({ now: () => now, digestOf: () => 'one' });

  it('raise the target of the pool that can serve them, and not that of a full pool', () => {
    const memory = remember();
    const serving = Array.from({ length: 10 }, (_, nth) => host(`hst-${nth}`, 'assigned', 'first'));
    memory.learn(quiet(serving), [first, second]);
    const [full, free] = memory.learn(observe(serving), [first, second]);
    expect(full?.target).toBe(1);
    expect(free?.target).toBeGreaterThan(100);
  });

  it('raise no target of a pool whose launches are held back', () => {
    const memory = remember();
    memory.learn(quiet([]), [first, second]);
    const breaker = memory.breakerOf('first');
    for (let nth = 0; nth < 5; nth += 1) {
      now += 60_000;
      breaker?.began(`hst-${nth}`);
      breaker?.failed(`hst-${nth}`, 'no image');
    }
    const [held, free] = memory.learn(observe([]), [first, second]);
    expect(held?.target).toBe(1);
    expect(free?.target).toBeGreaterThan(100);
  });
});
