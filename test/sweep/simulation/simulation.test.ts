/**
 * Tests the planner and its memory over whole lives of installations in virtual time. A failure names its seed and
 * time; `FUZZ_SEED` sets the seed, `FUZZ_TIMES` runs more of the small scenarios.
 */
import { describe, expect, inject, it } from 'vitest';
import type { HostWish } from '#domain/pool.ts';
import { testPool } from '../../support/orchestrator/pools.ts';
import type { Faults } from './model-runtime.ts';
import { type Outcome, type Scenario, simulate } from './simulate.ts';

const { seed, times } = inject('fuzz');
const minute = 60_000;

const standard: HostWish = { tier: 'standard', isolation: null, size: 'standard' };
const premium: HostWish = { tier: 'premium', isolation: null, size: 'standard' };
const large: HostWish = { tier: 'standard', isolation: 'process', size: 'large' };

const someFaults: Faults = {
  launchFails: 0.01,
  slowStart: 0.02,
  slowMs: 5_000,
  diesStarting: 0.01,
  hangsStarting: 0.002,
  badImage: 0,
  meanMsToDeath: 60 * minute,
  meanMsToSilence: 120 * minute,
  meanMsToReclaim: 120 * minute,
  destroyFails: 0.01,
  recycleHangs: 0.002,
};

const whole: Scenario = {
  seed,
  pools: [
    testPool({
      pool: 'standard',
      tier: 'standard',
      target: 'auto',
      minimum: 50,
      maximum: 12_000,
      surge: 50,
      refill: { perSecond: 500, burst: 1_000 },
      maxAgeMs: 4 * minute,
      maxAgeJitter: 0.5,
      worlds: [{ world: 'acme/tests/first', hosts: 100 }],
    }),
    testPool({
      pool: 'premium',
      tier: 'premium',
      target: 'auto',
      minimum: 10,
      maximum: 3_000,
      surge: 10,
    }),
    testPool({ pool: 'overflow', target: 5, minimum: 5, maximum: 2_000 }),
  ],
  opens: 100_000,
  opensPerSecond: 420,
  meanLifeMs: 27_000,
  wishes: [standard, standard, standard, standard, premium],
  versions: 20,
  faults: someFaults,
  lost: 0.002,
  meanMsBetweenCrashes: 50_000,
  meanMsBetweenReleases: 70_000,
  atOnce: 1_024,
  nudgeMs: 900,
  graceMs: 3 * minute,
  longestWaitMs: minute / 2,
};

const small = (nth: number): Scenario => ({
  seed: seed * 1_000 + nth,
  pools: [
    testPool({
      pool: 'first',
      target: nth % 2 === 0 ? 'auto' : 2,
      minimum: 1,
      maximum: 12,
    }),
    testPool({
      pool: 'second',
      tier: 'standard',
      target: 1,
      maximum: 8,
      surge: 2,
      maxAgeMs: minute,
      maxAgeJitter: 0.5,
      worlds: [{ world: 'acme/tests/first', hosts: 2 }],
    }),
    testPool({
      pool: 'large',
      size: { ...testPool().size, name: 'large' },
      target: 0,
      maximum: 4,
    }),
  ],
  opens: 400,
  opensPerSecond: 1,
  meanLifeMs: 4_000,
  wishes: [standard, standard, premium, large],
  versions: 4,
  faults: {
    launchFails: 0.2,
    slowStart: 0.1,
    slowMs: 8_000,
    diesStarting: 0.1,
    hangsStarting: 0.03,
    badImage: 0.03,
    meanMsToDeath: 2 * minute,
    meanMsToSilence: 3 * minute,
    meanMsToReclaim: 3 * minute,
    destroyFails: 0.2,
    recycleHangs: 0.1,
  },
  lost: 0.2,
  meanMsBetweenCrashes: 25_000,
  meanMsBetweenReleases: 30_000,
  atOnce: 4,
  nudgeMs: 200,
  graceMs: 3 * minute,
  longestWaitMs: 6 * minute,
});

const tell = (name: string, outcome: Outcome, { seed: own }: Scenario): void => {
  const at = (list: readonly number[], share: number): number =>
    Math.round((list[Math.min(list.length - 1, Math.floor(list.length * share))] ?? 0) * 10) / 10;
  const { waitsMs, planMs, ...rest } = outcome;
  const sorted = planMs.toSorted((a, b) => a - b);
  const waits = { p50: at(waitsMs, 0.5), p99: at(waitsMs, 0.99), most: waitsMs.at(-1) };
  const plans = { p50: at(sorted, 0.5), p99: at(sorted, 0.99) };
  console.info(name, JSON.stringify({ seed: own, ...rest, waits, plans }));
};

describe('an installation', () => {
  it('of 10,000 sessions serves 100,000 opens despite faults of every kind', () => {
    const outcome = simulate(whole);
    tell('whole', outcome, whole);
    expect(outcome.mostSessions).toBeGreaterThanOrEqual(10_000);
    expect(outcome.closed + outcome.failed).toBe(100_000);
    expect(outcome.failed).toBeLessThan(5_000);
    expect(outcome.crashes).toBeGreaterThan(2);
  });

  it('with very high fault rates forgets no host and starves no session', () => {
    for (let nth = 0; nth < 20 * times; nth += 1) {
      const outcome = simulate(small(nth));
      expect(outcome.closed + outcome.failed).toBe(400);
      expect(outcome.closed).toBeGreaterThan(100);
    }
  });
});
