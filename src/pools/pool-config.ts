/**
 * What an operator says of a pool: what its hosts are, and how many of them there shall be. The planner
 * decides by it and the driver launches by it; where it comes from is config.ts's to know.
 */
import type { HostKind } from '#domain/host.ts';
import { type HostOffer, type Isolation, kindOfSize } from '#domain/pool.ts';
import type { BrowserTier } from '#domain/session.ts';
import type { KubernetesTable } from './kubernetes-table.ts';

/** What one host may use. */
export type HostSize = { name: string; memoryMb: number; cpus: number; pids: number };

/** What a container of a pool is made of: hosts of one shape are interchangeable. */
export type HostShape = {
  pool: string;
  /** The sessions that it serves; null: of both tiers. */
  tier: BrowserTier | null;
  isolation: Isolation;
  size: HostSize;
  /** The image that it runs; absent: the one that the driver was prepared with. */
  image?: string;
  /** What only pods have; absent on other runtimes. */
  kubernetes?: KubernetesTable;
};

export type PoolConfig = HostShape & {
  /** Hosts kept warm whatever the demand, and the most that may exist in any state. */
  minimum: number;
  maximum: number;
  /** Hosts to keep warm; `auto` follows the rate of claims and the time that a host takes to get warm. */
  target: number | 'auto';
  /** Hosts that a roll may have above the target: so many outdated ones are replaced at a time. */
  surge: number;
  /** How fast launches may follow one another that no session waits for. */
  refill: { perSecond: number; burst: number };
  /** Warm hosts older than this are replaced, each at its own time within the jitter; null: never. */
  maxAgeMs: number | null;
  /** The share of `maxAgeMs` by which hosts differ, 0 to 1. */
  maxAgeJitter: number;
  /** How long a launch may take until its host is warm. */
  startMs: number;
  /** Worlds, as `organization/project/slug`, that warm hosts hold before anyone asks, and on how many. */
  worlds: readonly { world: string; hosts: number }[];
};

/** What the hosts of a pool serve of their sessions; their size says it (`browserSize`). */
export const kindOf = ({ size }: Pick<HostShape, 'size'>): HostKind => kindOfSize(size.name);

/** What the hosts of a pool have, as sessions see it. */
export const offerOf = ({ tier, isolation, size }: HostShape): HostOffer => ({
  tier,
  isolation,
  size: size.name,
});
