/**
 * Every action of every plan is lost once, in a short life of an installation that launches, loses,
 * loads, replaces and removes hosts. The planner plans a lost action again, so that the outcome is
 * the same as without a loss.
 */
import { describe, expect, it } from 'vitest';
import type { HostWish } from '#domain/pool.ts';
import type { PoolConfig } from '#pools/pool-config.ts';
import type { Action } from '../../../orchestrator/plan/terms.ts';
import { testPool } from '../../support/orchestrator/pools.ts';
import { createChance } from '../../support/random/chance.ts';
import { connectModels } from './connect-models.ts';
import { startModelOrchestrator } from './model-orchestrator.ts';
import { type ModelRuntime, noFaults } from './model-runtime.ts';
import { createVirtualTime } from './virtual-time.ts';

const second = 1_000;
const wish: HostWish = { tier: 'standard', isolation: null, size: 'standard' };
const world = 'acme/tests/first';
const allPools: readonly PoolConfig[] = [
  testPool({ pool: 'first', target: 2, maximum: 5, worlds: [{ world, hosts: 1 }] }),
  testPool({ pool: 'premium', tier: 'premium', target: 1, maximum: 2 }),
];

/**
 * Times at which three things happen: hosts stop failing during their start, a new release appears, and all pools are
 * removed.
 */
const wellAt = 2 * second;
const releaseAt = 90 * second;
const settledAt = 600 * second;
const overAt = 1_200 * second;

type Life = {
  /** Actions of all plans in order, by kind. */
  actions: Action['kind'][];
  /** Hosts with the version they hold and the image they run, after everything has settled. */
  settled: string[];
  /** End states of the sessions. */
  sessions: string[];
  /** Number of hosts and containers at the end. */
  left: number;
};

/** Runs the life to its end; the action with this number, counted from 0, is lost. */
const live = (lost: number): Life => {
  const time = createVirtualTime();
  const chance = createChance(1);
  const actions: Action['kind'][] = [];
  let pools = allPools;
  let release = 1;
  const { control, runtimes } = connectModels({
    time,
    chance,
    faults: [() => ({ ...noFaults, diesStarting: time.now() < wellAt ? 1 : 0 })],
    nudge: () => orchestrator?.nudge(),
    onAssigned: (host, session) => {
      time.after(session.lifeMs, () => control.close(session, host));
    },
    onRecycling: (host) => {
      time.after(50, () => control.warm(host));
    },
  });
  const [runtime] = runtimes as [ModelRuntime];
  const publish = (head: string): void =>
    control.setWorlds([{ pool: 'first', world, hosts: 1, versionId: head }]);
  const open = (versionId: string): void =>
    control.open({ wish, versionId, reuseWarm: false, keepWarm: false, lifeMs: 20 * second });
  const orchestrator = startModelOrchestrator({
    time,
    chance,
    control,
    runtime,
    pools: () => pools,
    digestOf: () => `release ${release}`,
    lost: () => 0,
    isLost: ({ kind }) => actions.push(kind) - 1 === lost,
    atOnce: 4,
    nudgeMs: 200,
    onPlan: () => undefined,
  });
  publish('v0');
  time.after(60 * second, () => {
    for (const versionId of ['v0', 'v1', 'v1', 'v2']) open(versionId);
  });
  time.after(releaseAt, () => {
    release += 1;
    publish('v0.1');
    open('v1');
  });
  time.runUntil(settledAt);
  const settled = [...control.hosts.values()]
    .map(({ id, pool, state, versionId }) =>
      [pool, state, versionId, runtime.find(id)?.digest].join(' '),
    )
    .sort();
  pools = [];
  control.setWorlds([]);
  time.runUntil(overAt);
  return {
    actions,
    settled,
    sessions: control.sessions.map(({ state }) => state),
    left: control.hosts.size + runtime.containers().length,
  };
};

describe('a lost action', () => {
  const whole = live(Number.POSITIVE_INFINITY);

  it('can be of every kind: a simulation without losses has actions of each kind', () => {
    const kinds = ['destroy', 'drain', 'launch', 'load', 'report_gone'];
    expect([...new Set(whole.actions)].sort()).toEqual(kinds);
    expect(whole.settled).toEqual([
      'first warm  release 2',
      'first warm  release 2',
      'first warm v0.1 release 2',
      'premium warm  release 2',
    ]);
    expect(whole).toMatchObject({ left: 0, sessions: Array(5).fill('closed') });
  });

  it.each(whole.actions.map((kind, nth) => [nth, kind] as const))(
    'is planned again: action %i, a %s',
    (nth) => {
      const { settled, sessions, left } = live(nth);
      expect({ settled, sessions, left }).toEqual({
        settled: whole.settled,
        sessions: whole.sessions,
        left: 0,
      });
    },
  );
});
