/**
 * Measures one plan at 10,000 hosts in ten pools, nearly all of them serving a session. The floor is one pass over the
 * same rows and containers that finds the container of each row.
 */
import type { HostState } from '#domain/host.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import { deadlines } from '../../orchestrator/control-loop.ts';
import type { Container } from '../../orchestrator/driver/driver.ts';
import { plan } from '../../orchestrator/plan/plan.ts';
import type { Observation, PlanSettings } from '../../orchestrator/plan/terms.ts';
import { testPool } from '../../test/support/orchestrator/pools.ts';
import { type Figure, median, sample } from './figure.ts';

const hostCount = 10_000;
const poolCount = 10;
const runs = 200;

const states: readonly HostState[] = ['warm', 'starting', 'recycling', 'draining'];

/** Builds a host; one in twenty serves no session. */
const hostOf = (index: number): PoolHost => {
  const state = index % 20 === 0 ? (states[(index / 20) % states.length] ?? 'warm') : 'assigned';
  return {
    id: `hst_${index}`,
    pool: `pool-${index % poolCount}`,
    state,
    sessionId: state === 'assigned' ? `ses_${index}` : null,
    stateAgeMs: 5_000,
    silentMs: state === 'starting' ? null : 500,
    ageMs: 3_600_000,
    launched: true,
    versionId: state === 'assigned' ? `ver_${index % 50}` : null,
    uses: 1,
  };
};

const observationOf = (): Observation => {
  const hosts = Array.from({ length: hostCount }, (_, index) => hostOf(index));
  const containers = hosts.map(({ id }): Container => {
    return { hostId: id, phase: 'running', digest: 'now' };
  });
  const waiting = [{ tier: 'standard', isolation: null, size: 'standard', count: 100 }] as const;
  return {
    view: { revision: '', hosts, waiting: [...waiting], worlds: [] },
    containers,
    busy: new Map(),
    steadyMs: 3_600_000,
  };
};

const settingsOf = (): PlanSettings => ({
  pools: Array.from({ length: poolCount }, (_, index) => ({
    config: testPool({ pool: `pool-${index}`, maximum: 2_000, maxAgeMs: 86_400_000 }),
    digest: 'now',
    target: 50,
    launchAllowance: Number.POSITIVE_INFINITY,
    isHeld: false,
    tokens: 100,
  })),
  launchesAtOnce: 64,
  startsAtOnce: () => Number.POSITIVE_INFINITY,
  destroysAtOnce: 64,
  deadlines: { ...deadlines, startingMs: 3_000 },
});

const matchBare = ({ view, containers }: Observation): number => {
  const found = new Map(containers.map((container) => [container.hostId, container]));
  let running = 0;
  for (const { id } of view.hosts) if (found.get(id)?.phase === 'running') running += 1;
  return running;
};

/** Returns the median of many plans of one observation. */
export const benchOrchestrator = async (): Promise<Figure[]> => {
  const observation = observationOf();
  const settings = settingsOf();
  const measure = async (work: () => unknown): Promise<number> => {
    await sample(runs / 4, async () => work());
    return median(await sample(runs, async () => work()));
  };
  return [
    {
      name: 'orchestrator.plan.10k',
      value: await measure(() => plan(observation, settings)),
      unit: 'ms',
      floor: await measure(() => matchBare(observation)),
      peer: null,
      target: 10,
      better: 'lower',
    },
  ];
};
