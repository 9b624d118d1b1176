/**
 * Input and output of the planner: an observation is the present state, settings are the wanted state, and an action
 * is one step towards it.
 */
import type { HostEnd, HostState } from '#domain/host.ts';
import type { PoolConfig } from '#pools/pool-config.ts';
import type { PoolView } from '#wire/pool-api/operations.ts';
import type { Container } from '../driver/driver.ts';

export type Observation = {
  view: PoolView;
  containers: readonly Container[];
  /** Hosts with a launch or a destroy in progress here; they are left alone until it has ended. */
  busy: ReadonlyMap<string, 'launch' | 'destroy'>;
  /** Time for which the control plane has answered without a gap, in milliseconds. */
  steadyMs: number;
};

/** Wanted state of a pool. */
export type PoolSettings = {
  config: PoolConfig;
  /** Digest that the pool's containers are made from now; containers with another digest are outdated. */
  digest: string;
  /** Number of blank hosts to keep warm; hosts that hold a world are kept in addition. */
  target: number;
  /** Number of launches that the breaker allows now. */
  launchAllowance: number;
  /** True if the breaker holds the pool: sessions go to another suitable pool, if there is one. */
  isHeld: boolean;
  /** Number of launches ahead of demand that the refill rate allows now. */
  tokens: number;
};

export type PlanSettings = {
  /** Pools in configuration order, in which sessions are offered to them. */
  pools: readonly PoolSettings[];
  /** Maximum of concurrent launches, and of concurrent destroys. */
  launchesAtOnce: number;
  destroysAtOnce: number;
  /**
   * Returns how many hosts may be starting at once on a machine, as `Driver.startsAtOnce` does: hosts that start take
   * processors from sessions there.
   */
  startsAtOnce(node: string | undefined): number;
  deadlines: Deadlines;
};

/** Time limits for hosts in an abnormal state, after which the planner acts, in milliseconds. */
export type Deadlines = {
  /** Silence of a host that has to send heartbeats. */
  silentMs: number;
  /** Time within which a living host reports again once the control plane is back. */
  heardMs: number;
  recycleMs: number;
  /** Time in which a host that its runtime takes away finishes its call and reports its end by itself. */
  goodbyeMs: number;
  /** Age of an intent without a container: longer than a lease, so that no predecessor is still launching it. */
  intentMs: number;
  /**
   * Duration of trouble that does not pass by itself. If a container only lacks capacity, its pool's `startMs` applies
   * instead.
   */
  troubleMs: number;
  /** Age from which a warm host over the pool's target is released. */
  surplusMs: number;
  /** Age of a warm host that waiting sessions have not taken, from which it counts as not suiting them. */
  unfitMs: number;
  /** Time for which a newly assigned session counts as loading. Launches ahead of demand wait until it is over. */
  loadingMs: number;
  /** Age from which a starting host counts as waiting or hung, and no longer delays other starts. */
  startingMs: number;
};

export type Action =
  /** `ahead` is the part of `count` that no session waits for. */
  | { kind: 'launch'; pool: string; count: number; ahead: number }
  | { kind: 'adopt'; hostId: string; pool: string; state: HostState }
  /** Reports that the container's address differs from the row's; null if the container has none for now. */
  | { kind: 'readdress'; hostId: string; pool: string; address: string | null }
  | { kind: 'load'; hostId: string; pool: string; versionId: string }
  | { kind: 'drain'; hostId: string; pool: string; state: HostState; reason: HostEnd }
  | { kind: 'report_gone'; hostId: string; pool: string; state: HostState; reason: HostEnd }
  | { kind: 'destroy'; hostId: string; why: 'draining' | 'orphan' };
