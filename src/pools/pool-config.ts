/**
 * Configuration of a pool: the attributes of its hosts, and how many hosts to keep. The planner and the driver use it.
 * config.ts reads it.
 */
import type { HostKind } from '#domain/host.ts';
import { type HostOffer, type Isolation, kindOfSize } from '#domain/pool.ts';
import type { BrowserTier } from '#domain/session.ts';
import type { KubernetesTable } from './kubernetes-table.ts';

/** Resources that one host may use. */
export type HostSize = { name: string; memoryMb: number; cpus: number; pids: number };

/** Attributes of a host's container. Hosts of one shape are interchangeable. */
export type HostShape = {
  pool: string;
  /** Tier of the sessions that the hosts serve; null: both tiers. */
  tier: BrowserTier | null;
  isolation: Isolation;
  size: HostSize;
  /** Image that the host runs; if absent, the image that the driver was prepared with. */
  image?: string;
  /** Settings of pods; absent on other runtimes. */
  kubernetes?: KubernetesTable;
};

export type PoolConfig = HostShape & {
  /** Number of hosts kept warm whatever the demand, and the maximum number of hosts in any state. */
  minimum: number;
  maximum: number;
  /**
   * Number of hosts to keep warm. `auto` derives it from the rate of claims and the time that a host takes to become
   * warm.
   */
  target: number | 'auto';
  /**
   * Number of hosts that a rollout may add above the target. It is also the number of outdated hosts that are replaced
   * at a time.
   */
  surge: number;
  /** Token bucket that limits launches which no session waits for. */
  refill: { perSecond: number; burst: number };
  /** Age at which warm hosts are replaced, varied per host by the jitter, in milliseconds; null: never. */
  maxAgeMs: number | null;
  /** Fraction of `maxAgeMs` by which the ages of hosts differ, 0 to 1. */
  maxAgeJitter: number;
  /** Maximum time from the launch of a host until it is warm, in milliseconds. */
  startMs: number;
  /** Worlds, as `organization/project/slug`, that warm hosts load in advance, and the number of those hosts. */
  worlds: readonly { world: string; hosts: number }[];
};

/** Returns whether the hosts of a pool serve worlds or browsers, which follows from their size (`browserSize`). */
export const kindOf = ({ size }: Pick<HostShape, 'size'>): HostKind => kindOfSize(size.name);

/** Returns the attributes of a pool's hosts by which sessions select them. */
export const offerOf = ({ tier, isolation, size }: HostShape): HostOffer => ({
  tier,
  isolation,
  size: size.name,
});
