/**
 * Metrics of an orchestrator and of its pools. Pools are read at each scrape, as the last tick left them; an
 * orchestrator that does not lead shows none. No label is an id: there are few pools, states and reasons.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type HostEnd, type HostState, liveHostStates } from '#domain/host.ts';
import { newRegistry, secondsBuckets } from '#runtime/metrics.ts';
import type { PoolStatus } from '../learned/pool-memory.ts';

/** A pool as of the last tick. */
export type PoolLook = PoolStatus & {
  hosts: Record<HostState, number>;
  /** Warm hosts that hold no world. */
  fresh: number;
};

/** State from which a scrape computes the metrics. */
export type Shown = { isLeading: boolean; pools: readonly PoolLook[] };

/** Reasons for which a host that was not meant to end is reported gone. */
const lossReasons: readonly HostEnd[] = ['exited', 'out_of_memory', 'reclaimed'];

/**
 * Creates a counter by pool and another label. It exports the usual values for each pool from the start, as 0;
 * otherwise the first burst would not be seen as a rise.
 */
const poolCounter = <Label extends string>(
  registry: Registry,
  show: () => Shown,
  {
    name,
    help,
    label,
    usual,
  }: { name: string; help: string; label: Label; usual: readonly string[] },
): Counter<'pool' | Label> =>
  new Counter<'pool' | Label>({
    name,
    help,
    labelNames: ['pool', label],
    registers: [registry],
    collect() {
      for (const { config } of show().pools) {
        for (const value of usual) {
          this.inc({ pool: config.pool, [label]: value } as Record<'pool' | Label, string>, 0);
        }
      }
    },
  });

const createCounters = (registry: Registry, show: () => Shown) => {
  return {
    planned: poolCounter(registry, show, {
      name: 'svc_host_launches_planned_total',
      help: 'Launches begun: because sessions wait (demand) or to fill the pool (refill)',
      label: 'cause',
      usual: ['demand', 'refill'],
    }),
    launches: poolCounter(registry, show, {
      name: 'svc_host_launches_total',
      help: 'Launches that ended: launched or failed',
      label: 'outcome',
      usual: ['launched', 'failed'],
    }),
    launchSeconds: new Histogram({
      name: 'svc_host_launch_seconds',
      help: 'How long the container runtime took to launch a host',
      labelNames: ['pool'],
      buckets: secondsBuckets,
      registers: [registry],
    }),
    drains: poolCounter(registry, show, {
      name: 'svc_host_drains_total',
      help: 'Hosts taken out of service by this orchestrator, by reason',
      label: 'reason',
      usual: [],
    }),
    losses: poolCounter(registry, show, {
      name: 'svc_host_losses_total',
      help: 'Hosts that ended without being asked to, by reason',
      label: 'reason',
      usual: lossReasons,
    }),
  };
};

type PoolNumber = { name: string; help: string; of(pool: PoolLook): number };

const poolNumbers: readonly PoolNumber[] = [
  {
    name: 'svc_pool_target',
    help: 'Number of fresh hosts that the pool should keep warm now',
    of: ({ target }) => target,
  },
  {
    name: 'svc_pool_fresh',
    help: 'Warm hosts that hold no world; the target counts only these',
    of: ({ fresh }) => fresh,
  },
  {
    name: 'svc_pool_minimum',
    help: 'Minimum number of hosts that the pool keeps warm',
    of: ({ config }) => config.minimum,
  },
  {
    name: 'svc_pool_maximum',
    help: 'Maximum number of hosts of the pool',
    of: ({ config }) => config.maximum,
  },
  {
    name: 'svc_pool_held',
    help: '1 if launches of the pool fail or are held back, otherwise 0',
    of: ({ launches }) => (launches.reason === undefined ? 0 : 1),
  },
  {
    name: 'svc_pool_launch_failures_in_a_row',
    help: 'Failed launches of the pool since its last successful launch',
    of: ({ launches }) => launches.failuresInARow,
  },
];

/** Creates the metrics. Each scrape calls `show` to read the current state. */
export const createMetrics = () => {
  const registry = newRegistry();
  let show = (): Shown => ({ isLeading: false, pools: [] });
  const registers = [registry];
  new Gauge({
    name: 'svc_orchestrator_leading',
    help: '1 if this orchestrator holds the lease, otherwise 0',
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
    ...createCounters(registry, () => show()),
    /** Sets the source from which scrapes read the pools. */
    showFrom(source: () => Shown): void {
      show = source;
    },
    /** Returns the current state. */
    shown: (): Shown => show(),
  };
};

export type Metrics = ReturnType<typeof createMetrics>;
