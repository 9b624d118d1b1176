/**
 * A burst of sessions on one small machine: two processors, which start hosts slowly, and a pool
 * with an automatic target. The planner must not take slow starts for too few hosts; otherwise each
 * wave launches a larger one.
 */
import { expect, it } from 'vitest';
import type { HostWish } from '#domain/pool.ts';
import { testPool } from '../../support/orchestrator/pools.ts';
import { createChance } from '../../support/random/chance.ts';
import { connectModels } from './connect-models.ts';
import { startModelOrchestrator } from './model-orchestrator.ts';
import { noFaults } from './model-runtime.ts';
import { createVirtualTime } from './virtual-time.ts';

const second = 1_000;
const minute = 60 * second;
const wish: HostWish = { tier: 'standard', isolation: null, size: 'standard' };
const pool = testPool({ target: 'auto', minimum: 1, maximum: 64 });
const opens = 20;
const processors = 2;

/**
 * Starts an installation on Kubernetes with one node, on which concurrent starts slow each other
 * down.
 */
const startOnOneNode = () => {
  const time = createVirtualTime();
  const chance = createChance(1);
  const seen = { launches: 0, mostStarting: 0 };
  const countStarting = (): number =>
    [...control.hosts.values()].filter(({ state }) => state === 'starting').length;
  const { control, runtimes } = connectModels({
    time,
    chance,
    faults: [
      () => ({ ...noFaults, slowStart: 1, slowMs: (2 * second * countStarting()) / processors }),
    ],
    nudge: () => orchestrator?.nudge(),
    onAssigned: (host, session) => time.after(session.lifeMs, () => control.close(session, host)),
    onRecycling: () => undefined,
  });
  const [runtime] = runtimes;
  if (runtime === undefined) throw new Error('there is no runtime');
  const orchestrator = startModelOrchestrator({
    time,
    chance,
    control,
    runtime,
    pools: () => [pool],
    digestOf: () => 'release 1',
    lost: () => 0,
    atOnce: 64,
    startsAtOnce: processors,
    startingMs: 20 * second,
    nudgeMs: 50,
    onPlan: (actions) => {
      seen.mostStarting = Math.max(seen.mostStarting, countStarting());
      for (const action of actions) if (action.kind === 'launch') seen.launches += action.count;
    },
  });
  const open = (): void =>
    control.open({ wish, versionId: 'v1', reuseWarm: false, keepWarm: false, lifeMs: 5 * minute });
  return { time, control, seen, open };
};

it('20 sessions at once on two processors get a host each, with two starts at a time and at most one more launch for each', () => {
  const { time, control, seen, open } = startOnOneNode();
  time.runUntil(minute);
  for (let nth = 0; nth < opens; nth += 1) open();
  time.runUntil(4 * minute);
  expect(control.waiting.size).toBe(0);
  expect(seen.mostStarting).toBeLessThanOrEqual(processors);
  time.runUntil(30 * minute);
  // The warm stock for the burst is launched in addition to the hosts of its sessions.
  expect(seen.launches).toBeLessThanOrEqual(2 * opens + pool.minimum);
  expect(control.hosts.size).toBe(pool.minimum);
  expect(control.sessions.map(({ state }) => state)).toEqual(Array(opens).fill('closed'));
});
