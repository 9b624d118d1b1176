/**
 * What the orchestrator needs of a container runtime. A driver sees only containers of its own
 * installation, keeps no state of its own (a new instance finds everything again by name and labels),
 * and knows nothing of sessions or pools' sizes: what to launch or destroy is `plan.ts`'s to decide.
 *
 * "Container" here is whatever the runtime runs a world host in; the process runtime uses a process
 * group with a folder. Every method is idempotent: repeating it after a crash does no harm.
 */

import type { HostKind } from '#domain/host.ts';
import type { LedgerMark } from '#domain/ledger.ts';
import type { RuntimeName } from '#domain/pool.ts';
import type { BrowserTier } from '#domain/session.ts';
import type { HostShape } from '#pools/pool-config.ts';
import type { LoopView } from '#runtime/loop-board.ts';
import type { Secret } from '#runtime/secret.ts';
import type { MakeOptions } from '../images/make-options.ts';

/** How a container ended, when the runtime still knows. */
export type ContainerExit = {
  reason: 'exited' | 'out_of_memory';
  /** For a person: exit status or signal. */
  detail: string;
};

/** Why a container that was asked for does not run yet. */
export type ContainerTrouble = {
  /**
   * `unschedulable`: there is no room for it, which may change. `image`: its image cannot be had.
   * `crash_loop`: it ends again and again. `refused`: the runtime will not have it as it is.
   */
  kind: 'unschedulable' | 'image' | 'crash_loop' | 'refused';
  /** For a person: what the runtime says, and about what. */
  message: string;
};

/** Notice that a container is taken away: in whose words, and for how many milliseconds it has stood. */
export type Reclaim = { why: string; forMs: number };

/** A container of this installation, dead or alive. */
export type Container = {
  /** The host it was made for; its name comes from this. */
  hostId: string;
  /**
   * `created`: it exists and was never started, as after a launch that was cut off. `pending`: the
   * runtime has accepted it and works on it, or waits for room.
   */
  phase: 'created' | 'pending' | 'running' | 'exited';
  /** Of a pending one. */
  trouble?: ContainerTrouble;
  exit?: ContainerExit;
  /** Last ledger entry of its session, for a container that has ended and whose host left the mark. */
  ledger?: LedgerMark;
  /** The runtime takes it away soon, by no wish of ours: an eviction, a drained node, spot reclaim. */
  reclaimed?: Reclaim;
  /** What it was made from, as `digestOf` had it then. */
  digest: string;
  /**
   * Base address of the API server of a running one, where the runtime gives it: null while there is
   * none. Absent where the host itself tells its address, or the container does not run.
   */
  address?: string | null;
  /** The machine that it is on, where there are several and it is known. */
  node?: string;
};

/** What a new world host is told. */
export type LaunchSpec = {
  hostId: string;
  generation: number;
  /** The host's own token; it is handed over by a descriptor or a file of the host's own. */
  token: Secret;
  shape: HostShape;
};

/** A container that runs behind every fence its runtime has. */
export type Launched = {
  /** The runtime's own id of it. */
  runtimeId: string;
  /** Base address of its API server, when the runtime gives it (else the host reports it). */
  address?: string;
};

/** What a prepared runtime asks of the rest of the installation. */
export type Prepared = {
  /** An address at which the control plane must serve its host API, so that hosts reach it; null: loopback. */
  listen: string | null;
  /** How hosts name the machine that the control plane runs on. */
  host: string;
  /** The image that hosts run, where there is one. */
  image: string | null;
};

export type PrepareOptions = MakeOptions & {
  /** The kinds of hosts to get ready for; absent: world hosts. */
  kinds?: readonly HostKind[];
};

export type Watch = {
  /** What runs for it. */
  loops: readonly LoopView[];
  stop(): Promise<void>;
};

/** What a runtime is wanted for now. */
export type Wanted = {
  /** The hosts that will be launched. */
  shapes: readonly HostShape[];
  /** The hosts that serve sessions. */
  serving: ReadonlyMap<string, Serving>;
};

/** A session that a host serves: its tier, and for how many milliseconds the host has had it. */
export type Serving = { tier: BrowserTier; forMs: number };

export type Driver = {
  readonly runtime: RuntimeName;
  /** What keeps hosts apart and what does not, for a person; absent where each is a container. */
  readonly isolation?: string;
  /**
   * Hosts that may be starting at once on one machine: they take its processors from the sessions there. The
   * machine is as `Container.node` has it; undefined where there is but one, and for one that is not known.
   */
  startsAtOnce(node: string | undefined): number;
  /**
   * A short hash of all that a container of this shape would be made from today: image, limits,
   * template, and which sessions it suits. A container with another digest is outdated.
   */
  digestOf(shape: HostShape): string;
  /** Makes what hosts need before the first launch: image, network, folder. */
  prepare(options: PrepareOptions): Promise<Prepared>;
  /** Every container of this installation, dead ones included. */
  list(): Promise<Container[]>;
  /**
   * Makes a container and resolves when it runs, fenced, or, on a runtime that schedules, when it is
   * accepted and the fence stands that it will run behind. Launching a host that has a running container
   * changes nothing and answers that one. Throws `unavailable` with the runtime's reason.
   */
  launch(spec: LaunchSpec): Promise<Launched>;
  /**
   * Completes a launch that another orchestrator began: puts up any fence that is missing and answers
   * as `launch` would have. Throws `not_found` when no such container runs.
   */
  adopt(hostId: string): Promise<Launched>;
  /**
   * Ends the container's processes, and returns how far the ledger of its session had come then. Absent where nothing
   * of that outlives them.
   */
  end?(hostId: string): Promise<LedgerMark | undefined>;
  /** Ends the container and removes all of it. None of ours by that name: nothing happens. */
  destroy(hostId: string): Promise<void>;
  /** The last lines that the host wrote, for telling why it ended; empty when there are none. */
  logs(hostId: string): Promise<string>;
  /** Calls back whenever a container may have started or ended. Notices can be lost; list, too. */
  watch(onChange: () => void): Watch;
  /**
   * Told after each look what is wanted, while it is watched: a runtime gets ready for what will be
   * launched and holds on to what serves. Absent where there is nothing to do.
   */
  arrange?(wanted: Wanted): void;
  /** Removes what `prepare` made for this installation alone, once no container is left. */
  dismantle(): Promise<void>;
};
