/**
 * What the planner is asked and what it answers. An observation is what was seen, settings are what is
 * wanted, and an action is one step towards it.
 */
import type { HostEnd, HostState } from '#domain/host.ts';
import type { PoolConfig } from '#pools/pool-config.ts';
import type { PoolView } from '#wire/pool-api/operations.ts';
import type { Container } from '../driver/driver.ts';

export type Observation = {
  view: PoolView;
  containers: readonly Container[];
  /** Hosts with a launch or a destroy under way here; they are left alone until it has ended. */
  busy: ReadonlyMap<string, 'launch' | 'destroy'>;
  /** How long the control plane has answered without a gap, in milliseconds. */
  steadyMs: number;
};

/** A pool as it is to be now. */
export type PoolSettings = {
  config: PoolConfig;
  /** What its containers are made from now; those with another digest are outdated. */
  digest: string;
  /** Blank hosts to keep warm; those that hold a world are kept on top of them. */
  target: number;
  /** Launches that the breaker allows now. */
  launchAllowance: number;
  /** Whether the breaker holds it: sessions go to another pool that suits them, if there is one. */
  isHeld: boolean;
  /** Launches that nobody waits for, as far as the refill rate allows them now. */
  tokens: number;
};

export type PlanSettings = {
  /** In the order in which they are asked to serve a session that several suit. */
  pools: readonly PoolSettings[];
  /** Launches and destroys that may be under way at once, each. */
  launchesAtOnce: number;
  destroysAtOnce: number;
  /**
   * Hosts that may be starting at once on a machine, as `Driver.startsAtOnce` has it: those that share one take
   * its processors from sessions.
   */
  startsAtOnce(node: string | undefined): number;
  deadlines: Deadlines;
};

/** How long a host may be in a bad way before something is done about it, in milliseconds. */
export type Deadlines = {
  /** Without a message from a host that has to send heartbeats. */
  silentMs: number;
  /** Once the control plane is back, a living host has been heard within this. */
  heardMs: number;
  recycleMs: number;
  /** A host that its runtime takes away finishes its call and says goodbye by itself within this. */
  goodbyeMs: number;
  /** An intent without a container: longer than a lease, so that no predecessor is still at it. */
  intentMs: number;
  /** A container that its runtime cannot start as it is; one that lacks room has its pool's `startMs`. */
  troubleMs: number;
  /** A warm host more than the pool wants. */
  surplusMs: number;
  /** A warm host that waiting sessions do not take does not fit them after this long. */
  unfitMs: number;
  /** A session just given its host is loading: launches that nobody waits for stay out of its way. */
  loadingMs: number;
  /** A host that has been starting for longer waits for something or hangs, and holds up no other. */
  startingMs: number;
};

export type Action =
  /** `ahead` of the launches are such that nobody waits for. */
  | { kind: 'launch'; pool: string; count: number; ahead: number }
  | { kind: 'adopt'; hostId: string; pool: string; state: HostState }
  /** Its container is reached elsewhere than its row says; null: nowhere for now. */
  | { kind: 'readdress'; hostId: string; pool: string; address: string | null }
  | { kind: 'load'; hostId: string; pool: string; versionId: string }
  | { kind: 'drain'; hostId: string; pool: string; state: HostState; reason: HostEnd }
  | { kind: 'report_gone'; hostId: string; pool: string; state: HostState; reason: HostEnd }
  | { kind: 'destroy'; hostId: string; why: 'draining' | 'orphan' };
