/**
 * Two installations on one control plane, each with its own orchestrator and runtime. Both see
 * every waiting session, so both launch a host for it; in the end one host each must remain.
 */
import { describe, expect, it } from 'vitest';
import type { HostWish } from '#domain/pool.ts';
import type { PoolConfig } from '#pools/pool-config.ts';
import type { PoolView } from '#wire/pool-api/operations.ts';
import { testPool } from '../../support/orchestrator/pools.ts';
import { createChance } from '../../support/random/chance.ts';
import { connectModels } from './connect-models.ts';
import { startModelOrchestrator } from './model-orchestrator.ts';
import { type Faults, noFaults } from './model-runtime.ts';
import { createVirtualTime } from './virtual-time.ts';

const second = 1_000;
const minute = 60_000;
const wish: HostWish = { tier: 'standard', isolation: null, size: 'standard' };

type Installation = { pool: PoolConfig; faults?: Partial<Faults> };

/** Restricts the view to the installation's own hosts, with all waiting sessions. */
const seenBy =
  ({ pool }: Installation) =>
  (view: PoolView): PoolView => ({
    ...view,
    hosts: view.hosts.filter((host) => host.pool === pool.pool),
  });

const start = (installations: readonly Installation[]) => {
  const time = createVirtualTime();
  const chance = createChance(1);
  const launches = installations.map(() => 0);
  let orchestrators: { nudge(): void }[] = [];
  const { control, runtimes } = connectModels({
    time,
    chance,
    faults: installations.map(({ faults }) => () => ({ ...noFaults, ...faults })),
    nudge: () => {
      for (const one of orchestrators) one.nudge();
    },
    onAssigned: (host, session) => {
      time.after(session.lifeMs, () => control.close(session, host));
    },
    onRecycling: () => undefined,
  });
  orchestrators = installations.map((installation, index) => {
    const runtime = runtimes[index];
    if (runtime === undefined) throw new Error(`installation ${index} has no runtime`);
    return startModelOrchestrator({
      time,
      chance,
      control,
      seen: seenBy(installation),
      runtime,
      pools: () => [installation.pool],
      digestOf: () => 'release 1',
      lost: () => 0,
      atOnce: 64,
      nudgeMs: 50,
      onPlan: (actions) => {
        for (const action of actions) {
          if (action.kind === 'launch') launches[index] = (launches[index] ?? 0) + action.count;
        }
      },
    });
  });
  const open = (lifeMs: number): void =>
    control.open({ wish, versionId: 'v1', reuseWarm: false, keepWarm: false, lifeMs });
  return { time, chance, control, runtimes, launches, open };
};

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

describe('two installations', () => {
  it('launch one host each for a waiting session, and remove the extra one', () => {
    const { time, control, runtimes, launches, open } = start([
      { pool: testPool({ pool: 'here', maximum: 30 }) },
      { pool: testPool({ pool: 'there', maximum: 30 }) },
    ]);
    for (let nth = 0; nth < 20; nth += 1) open(10 * minute);
    time.runUntil(5 * minute);
    expect(control.waiting.size).toBe(0);
    expect(launches).toEqual([20, 20]);
    expect(control.hosts.size).toBe(20);
    time.runUntil(20 * minute);
    expect(launches).toEqual([20, 20]);
    expect(control.hosts.size + sum(runtimes.map((one) => one.containers().length))).toBe(0);
  });

  it('launch at most twice as many hosts as there are opens, however long sessions keep arriving', () => {
    const auto = { target: 'auto', minimum: 1, maximum: 200 } as const;
    const { time, chance, control, launches, open } = start([
      { pool: testPool({ pool: 'here', ...auto }) },
      { pool: testPool({ pool: 'there', ...auto }) },
    ]);
    const opens = 2_000;
    const openOn = (left: number): void => {
      open(5 * second + chance.around(20 * second));
      if (left > 1) time.after(chance.around(200), () => openOn(left - 1));
    };
    openOn(opens);
    time.runUntil(60 * minute);
    expect(control.sessions.map(({ state }) => state)).toEqual(Array(opens).fill('closed'));
    expect(sum(launches)).toBeLessThan(2 * opens);
    expect(control.hosts.size).toBe(2);
  });

  it('serve all sessions in the end when launches fail in one and the other is full: the first retries as slowly as its breaker allows', () => {
    const { time, control, launches, open } = start([
      { pool: testPool({ pool: 'here', maximum: 5 }), faults: { launchFails: 1 } },
      { pool: testPool({ pool: 'there', maximum: 2 }) },
    ]);
    for (let nth = 0; nth < 4; nth += 1) open(60 * minute);
    time.runUntil(30 * minute);
    expect(control.waiting.size).toBe(2);
    expect(control.liveIn('there')).toBe(2);
    expect(launches[1]).toBe(2);
    // About four until the breaker opens, then one every half minute.
    expect(launches[0]).toBeLessThan(90);
    time.runUntil(130 * minute);
    expect(control.sessions.map(({ state }) => state)).toEqual(Array(4).fill('closed'));
  });
});
