/**
 * Interface between the orchestrator and a container runtime. A driver sees only containers of its own installation
 * and keeps no state of its own: a new instance finds everything again by name and labels. It knows nothing of
 * sessions or pool sizes; `plan.ts` decides what to launch or destroy.
 *
 * "Container" here is whatever the runtime runs a world host in; the process runtime uses a process group with a
 * folder. Every method is idempotent: repeating it after a crash does no harm.
 */

import type { HostKind } from '#domain/host.ts';
import type { HostAddressing } from '#domain/host-address.ts';
import type { LedgerMark } from '#domain/ledger.ts';
import type { RuntimeName } from '#domain/pool.ts';
import type { BrowserTier } from '#domain/session.ts';
import type { HostShape } from '#pools/pool-config.ts';
import type { LoopView } from '#runtime/loop-board.ts';
import type { Secret } from '#runtime/secret.ts';
import type { MakeOptions } from '../images/make-options.ts';

/** Reason why a container ended. Absent once the runtime no longer has the container. */
export type ContainerExit = {
  reason: 'exited' | 'out_of_memory';
  /** Exit status or signal, as text for people. */
  detail: string;
};

/** Reason why a requested container does not run yet. */
export type ContainerTrouble = {
  /**
   * `unschedulable`: there is no capacity for it, which may change. `image`: its image cannot be had. `crash_loop`: it
   * ends again and again. `refused`: the runtime rejects its definition.
   */
  kind: 'unschedulable' | 'image' | 'crash_loop' | 'refused';
  /** The runtime's reason and the object that it is about, as text for people. */
  message: string;
};

/**
 * Notice that the runtime takes a container away: the reason in its own words, and the age of the notice in
 * milliseconds.
 */
export type Reclaim = { why: string; forMs: number };

/** A container of this installation, dead or alive. */
export type Container = {
  /** Host that the container was made for; the container's name derives from it. */
  hostId: string;
  /**
   * `created`: it exists and was never started, as after an interrupted launch. `pending`: the runtime has accepted it
   * and works on it, or waits for capacity.
   */
  phase: 'created' | 'pending' | 'running' | 'exited';
  /** Reason why a pending container does not run. */
  trouble?: ContainerTrouble;
  exit?: ContainerExit;
  /** Last ledger entry of its session, for an ended container whose host left the mark. */
  ledger?: LedgerMark;
  /**
   * Notice that the runtime will soon take the container away for reasons of its own: an eviction, a drained node, spot
   * reclaim.
   */
  reclaimed?: Reclaim;
  /** Digest of the settings that the container was made from, as `digestOf` returned it then. */
  digest: string;
  /**
   * Base address of a running container's API server, where the runtime assigns it; null while there is none. Absent
   * if the host itself reports its address, or the container does not run.
   */
  address?: string | null;
  /** Machine that the container runs on, if there are several and the machine is known. */
  node?: string;
};

/** Identity and shape of a host to launch. */
export type LaunchSpec = {
  hostId: string;
  generation: number;
  /** The host's own token, handed over by a descriptor or a file that only the host reads. */
  token: Secret;
  shape: HostShape;
};

/** A container that runs with all network isolation that its runtime provides. */
export type Launched = {
  /** The runtime's own id of the container. */
  runtimeId: string;
  /** Base address of its API server, when the runtime assigns it (else the host reports it). */
  address?: string;
};

/** Addresses and image of a prepared runtime, which the rest of the installation needs. */
export type Prepared = {
  /** Address at which the control plane must serve its host API, so that hosts reach it; null for loopback. */
  listen: string | null;
  /** Name by which hosts reach the machine of the control plane. */
  host: string;
  /** Image that hosts run; null if the runtime uses no images. */
  image: string | null;
};

export type PrepareOptions = MakeOptions & {
  /** Kinds of hosts to prepare for; only world hosts if absent. */
  kinds?: readonly HostKind[];
};

export type Watch = {
  /** Loops that the watch runs. */
  loops: readonly LoopView[];
  stop(): Promise<void>;
};

/** Demand on a runtime, as of the latest observation: the hosts that pools want, and those that serve. */
export type Wanted = {
  /** Shapes of the hosts that the pools launch. */
  shapes: readonly HostShape[];
  /** Hosts that serve sessions. */
  serving: ReadonlyMap<string, Serving>;
};

/** Session that a host serves: its tier, and how long the host has served it, in milliseconds. */
export type Serving = { tier: BrowserTier; forMs: number };

export type Driver = {
  readonly runtime: RuntimeName;
  /** Way in which the addresses of its hosts become known; the control plane accepts no other. */
  readonly addressing: HostAddressing;
  /**
   * Description, for people, of what isolates hosts from one another and what does not; absent if each is a container.
   */
  readonly isolation?: string;
  /** Limit of launches that are in progress at once, and the same of destroys. */
  readonly changesAtOnce: number;
  /** Time for which a host that starts uses processor time, in milliseconds. */
  readonly startingMs: number;
  /**
   * Returns how many hosts may be starting at once on one machine, since starts take processor time from the sessions
   * there. `node` is as in `Container.node`; undefined for a single machine, or an unknown one.
   */
  startsAtOnce(node: string | undefined): number;
  /**
   * Returns a short hash of everything that a container of this shape would be made from now: image, limits, template,
   * and the sessions it suits. A container with another digest is outdated.
   */
  digestOf(shape: HostShape): string;
  /** Prepares what hosts need before the first launch: image, network, folder. */
  prepare(options: PrepareOptions): Promise<Prepared>;
  /** Returns every container of this installation, dead ones included. */
  list(): Promise<Container[]>;
  /**
   * Creates a container. Resolves when it runs with its network isolation; on a runtime that schedules, when it is
   * accepted and its network isolation is in place. If the host already has a running container, nothing changes, and
   * the result describes that container. Throws `unavailable` with the runtime's reason.
   */
  launch(spec: LaunchSpec): Promise<Launched>;
  /**
   * Completes a launch that another orchestrator began: adds missing network isolation and returns what `launch` would
   * have. Throws `not_found` when no such container runs.
   */
  adopt(hostId: string): Promise<Launched>;
  /**
   * Ends the container's processes and returns the last ledger entry of its session. Absent if the runtime keeps no
   * ledger mark after the processes end.
   */
  end?(hostId: string): Promise<LedgerMark | undefined>;
  /** Ends the container and removes all of it. Does nothing if this installation has no container for the host. */
  destroy(hostId: string): Promise<void>;
  /** Returns the last lines of the host's output, to explain why it ended; empty when there are none. */
  logs(hostId: string): Promise<string>;
  /**
   * Calls `onChange` whenever a container may have started or ended. Notifications can be lost, so callers also list.
   */
  watch(onChange: () => void): Watch;
  /**
   * Called after each observation with the current demand while a watch runs: the runtime prepares for coming launches
   * and protects serving hosts. Absent if there is nothing to do.
   */
  arrange?(wanted: Wanted): void;
  /** Removes what `prepare` made for this installation alone, once no container is left. */
  dismantle(): Promise<void>;
};
