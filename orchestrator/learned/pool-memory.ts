/**
 * State that an orchestrator has learned about its pools while it leads: failed launches, the targets that follow from
 * demand, and the tokens left at the refill rate. It follows the configuration: a new pool starts with a closed
 * breaker, and the state of a removed pool is dropped.
 *
 * All of it may be lost at any time, since it only limits how fast the planner launches.
 */

import type { HostShape, PoolConfig } from '#pools/pool-config.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import type { Container } from '../driver/driver.ts';
import { bookWaiting } from '../plan/booking.ts';
import type { Action, Observation, PoolSettings } from '../plan/terms.ts';
import { attainable, rescale, type Scaling, unscaled } from './autoscale.ts';
import { type Breaker, type BreakerStatus, createBreaker } from './breaker.ts';
import { type Bucket, newBucket, refill, take } from './bucket.ts';

export type PoolStatus = {
  config: PoolConfig;
  /** Blank hosts to keep warm. */
  target: number;
  launches: BreakerStatus;
};

export type PoolMemory = {
  /** Learns from an observation; returns the settings with which each pool is planned. */
  learn(observation: Observation, configs: readonly PoolConfig[]): PoolSettings[];
  /** Records the launches of a plan that is about to be executed. */
  noteLaunches(actions: readonly Action[]): void;
  /** Returns the breaker of a pool; undefined when there is no such pool now. */
  breakerOf(pool: string): Breaker | undefined;
  /** Returns the pools as of the last observation, in configuration order. */
  statuses(): PoolStatus[];
};

export type PoolMemoryParts = {
  /** Monotonic clock, in milliseconds. */
  now(): number;
  digestOf(shape: HostShape): string;
};

/** State of one pool. */
type Known = {
  config: PoolConfig;
  breaker: Breaker;
  bucket: Bucket;
  scaling: Scaling;
  target: number;
  /** The runtime's reason why a container of the pool does not run yet. */
  trouble: string | undefined;
};

const newlyKnown = (config: PoolConfig, now: () => number): Known => ({
  config,
  breaker: createBreaker(now),
  bucket: newBucket(config.refill, now()),
  scaling: unscaled(config),
  target: config.minimum,
  trouble: undefined,
});

/** Returns one message for each pool: the runtime's reason why a container of it does not run yet. */
const troubleByPool = (
  hosts: readonly PoolHost[],
  containers: readonly Container[],
): Map<string, string> => {
  const inTrouble = containers.filter(({ trouble }) => trouble !== undefined);
  const messages = new Map<string, string>();
  if (inTrouble.length === 0) return messages;
  const poolOf = new Map(hosts.map(({ id, pool }) => [id, pool]));
  for (const { hostId, trouble } of inTrouble) {
    const pool = poolOf.get(hostId);
    if (pool !== undefined && trouble !== undefined) {
      messages.set(pool, `${trouble.kind}: ${trouble.message}`);
    }
  }
  return messages;
};

/** Creates an empty memory. */
export const createPoolMemory = ({ now, digestOf }: PoolMemoryParts): PoolMemory => {
  let known = new Map<string, Known>();

  const settingsOf = ({ config, breaker, bucket, target }: Known): PoolSettings => ({
    config,
    digest: digestOf(config),
    target,
    launchAllowance: breaker.allowance(),
    isHeld: breaker.isHeld(),
    tokens: bucket.tokens,
  });

  return {
    learn({ view, containers }, configs) {
      const atMs = now();
      const pools = configs.map((config) => ({
        ...(known.get(config.pool) ?? newlyKnown(config, now)),
        config,
      }));
      const hostsOf = Map.groupBy(view.hosts, (host) => host.pool);
      for (const { breaker, config } of pools) breaker.settle(hostsOf.get(config.pool) ?? []);
      const booked = [...bookWaiting({ view, containers }, pools.map(settingsOf))];
      const waitingOf = new Map(booked.map(([{ config }, { count }]) => [config.pool, count]));
      const troubleOf = troubleByPool(view.hosts, containers);
      for (const pool of pools) {
        const { config } = pool;
        const hosts = hostsOf.get(config.pool) ?? [];
        const waiting = waitingOf.get(config.pool) ?? 0;
        pool.bucket = refill(pool.bucket, config.refill, atMs);
        if (config.target === 'auto') {
          pool.scaling = rescale(pool.scaling, { atMs, hosts, waiting }, config);
        }
        pool.target =
          config.target === 'auto' ? attainable(pool.scaling.target, hosts, config) : config.target;
        pool.trouble = troubleOf.get(config.pool);
      }
      known = new Map(pools.map((pool) => [pool.config.pool, pool]));
      return pools.map(settingsOf);
    },
    noteLaunches(actions) {
      for (const action of actions) {
        if (action.kind !== 'launch') continue;
        const pool = known.get(action.pool);
        if (pool !== undefined) pool.bucket = take(pool.bucket, action.ahead);
      }
    },
    breakerOf: (pool) => known.get(pool)?.breaker,
    statuses: () =>
      [...known.values()].map(({ config, target, breaker, trouble }) => {
        const status = breaker.status();
        const reason = status.reason ?? trouble;
        return { config, target, launches: { ...status, reason } };
      }),
  };
};
