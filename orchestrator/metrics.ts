/**
 * What an orchestrator counts, and what it shows of its pools. Pools are looked at when metrics are asked
 * for, as the last tick left them; one that does not lead shows none. No label is an id: pools, states and
 * reasons are few.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type HostState, liveHostStates } from '#domain/host.ts';
import { newRegistry, secondsBuckets } from '#runtime/metrics.ts';
import type { PoolStatus } from './pools/pool-memory.ts';

/** A pool as the last tick saw it. */
export type PoolLook = PoolStatus & { hosts: Record<HostState, number> };

/** What the program shows when it is asked. */
export type Shown = { isLeading: boolean; pools: readonly PoolLook[] };

const createCounters = (registry: Registry) => {
  const registers = [registry];
  return {
    planned: new Counter({
      name: 'svc_host_launches_planned_total',
      help: 'Launches begun: because sessions wait (demand) or to fill the pool (refill)',
      labelNames: ['pool', 'cause'],
      registers,
    }),
    launches: new Counter({
      name: 'svc_host_launches_total',
      help: 'Launches that ended: launched or failed',
      labelNames: ['pool', 'outcome'],
      registers,
    }),
    launchSeconds: new Histogram({
      name: 'svc_host_launch_seconds',
      help: 'How long the container runtime took to launch a host',
      labelNames: ['pool'],
      buckets: secondsBuckets,
      registers,
    }),
    drains: new Counter({
      name: 'svc_host_drains_total',
      help: 'Hosts taken out of service by this orchestrator, by reason',
      labelNames: ['pool', 'reason'],
      registers,
    }),
    losses: new Counter({
      name: 'svc_host_losses_total',
      help: 'Hosts found gone, by reason',
      labelNames: ['pool', 'reason'],
      registers,
    }),
  };
};

type PoolNumber = { name: string; help: string; of(pool: PoolLook): number };

const poolNumbers: readonly PoolNumber[] = [
  { name: 'svc_pool_target', help: 'Hosts to keep warm now', of: ({ target }) => target },
  {
    name: 'svc_pool_minimum',
    help: 'Least hosts to keep warm',
    of: ({ config }) => config.minimum,
  },
  {
    name: 'svc_pool_maximum',
    help: 'Most hosts that a pool may have',
    of: ({ config }) => config.maximum,
  },
  {
    name: 'svc_pool_held',
    help: 'Whether launches of a pool fail or are held back, 0 or 1',
    of: ({ launches }) => (launches.reason === undefined ? 0 : 1),
  },
  {
    name: 'svc_pool_launch_failures_in_a_row',
    help: 'Launches of a pool that failed since the last that worked',
    of: ({ launches }) => launches.failuresInARow,
  },
];

/** Makes the metrics; `show` is called whenever they are asked for. */
export const createMetrics = () => {
  const registry = newRegistry();
  let show = (): Shown => ({ isLeading: false, pools: [] });
  const registers = [registry];
  new Gauge({
    name: 'svc_orchestrator_leading',
    help: 'Whether this orchestrator holds the lease, 0 or 1',
    registers,
    collect() {
      this.set(show().isLeading ? 1 : 0);
    },
  });
  new Gauge({
    name: 'svc_hosts',
    help: 'Hosts of a pool by state',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      this.reset();
      for (const { config, hosts } of show().pools) {
        for (const state of liveHostStates) this.set({ pool: config.pool, state }, hosts[state]);
      }
    },
  });
  for (const { name, help, of } of poolNumbers) {
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        this.reset();
        for (const pool of show().pools) this.set({ pool: pool.config.pool }, of(pool));
      },
    });
  }
  return {
    registry,
    ...createCounters(registry),
    /** Says where the pools are looked at from now on. */
    showFrom(source: () => Shown): void {
      show = source;
    },
    /** What is shown now. */
    shown: (): Shown => show(),
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
