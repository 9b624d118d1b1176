/**
 * Runs world hosts as processes of this machine: for machines without a container engine, and for tests. A sandbox
 * isolates them where one works (sandbox.ts); otherwise only the operating system's separation between processes of one
 * user does. Worlds with untrusted code belong in containers.
 *
 * A host is a process group and a folder, named by its id. The command line of the process ends with the labels. The
 * folder shows that a host exists whose process is gone, or was never started.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { AppError } from '#domain/error.ts';
import type { LedgerMark } from '#domain/ledger.ts';
import { type HostShape, offerOf } from '#pools/pool-config.ts';
import { digestOf } from '../digest.ts';
import type {
  Container,
  ContainerExit,
  Driver,
  Launched,
  LaunchSpec,
  Prepared,
  PrepareOptions,
  Watch,
} from '../driver.ts';
import { heapOptions } from '../heap.ts';
import { endHost } from './end-host.ts';
import {
  boundOutput,
  installationFolder,
  listHostFolders,
  makeHostFolder,
  makeInstallationFolder,
  readMark,
  readOutputTail,
  removeFolder,
} from './host-folder.ts';
import {
  addressing,
  type FoundProcess,
  findHosts,
  type HostProcessOptions,
  startHostProcess,
} from './host-process.ts';
import { createKnownHosts } from './known-hosts.ts';

export type ProcessDriverOptions = Omit<HostProcessOptions, 'snapshots'> & {
  /** Folder in which the installation's folder is created. */
  temporaryDir: string;
  /**
   * Short text that identifies the program of hosts; it is part of their digest, so another release makes other hosts.
   */
  release: string;
  /** Creates the program that `command` runs unless it exists, and marks it as used. */
  makeProgram?: () => Promise<unknown>;
};

/** Driver of one installation's hosts on this machine. */
export class ProcessDriver implements Driver {
  readonly runtime = 'process';
  readonly addressing = addressing;
  readonly changesAtOnce = 8;
  readonly startingMs = 3_000;
  readonly isolation: string;
  readonly #options: ProcessDriverOptions;
  /** Folder of the installation; each folder inside it is a host's. */
  readonly #root: string;
  /** Folder of unpacked snapshots, which all hosts share. It is next to the installation's folder, not inside it. */
  readonly #snapshots: string;
  /**
   * Hosts that this instance started, and how they ended once they have ended; another instance of the driver cannot
   * know this.
   */
  readonly #children = new Map<string, ContainerExit | 'runs'>();
  readonly #watchers = new Set<() => void>();
  readonly #knownHosts: ReturnType<typeof createKnownHosts>;

  constructor(options: ProcessDriverOptions) {
    this.#options = options;
    this.isolation = options.sandbox.says;
    this.#root = installationFolder(options.temporaryDir, options.installation);
    this.#snapshots = `${this.#root}-snapshots`;
    this.#knownHosts = createKnownHosts(options.installation);
  }

  startsAtOnce(): number {
    return Math.max(1, Math.floor(availableParallelism() / 2));
  }

  digestOf(shape: HostShape): string {
    const { release, sandbox } = this.#options;
    return digestOf([release, sandbox.kind, offerOf(shape), heapOptions(shape.size.memoryMb)]);
  }

  async prepare({ onProgress }: PrepareOptions): Promise<Prepared> {
    onProgress(this.isolation);
    await makeInstallationFolder(this.#root);
    return { listen: null, host: '127.0.0.1', image: null };
  }

  async list(): Promise<Container[]> {
    const folders = await listHostFolders(this.#root);
    const children = [...this.#children].filter(([, exit]) => exit === 'runs').map(([id]) => id);
    const running = await this.#knownHosts({ folders, children });
    const hosts = [...new Set([...folders, ...running.keys()])];
    return Promise.all(hosts.map((hostId) => this.#describe(hostId, running.get(hostId))));
  }

  async launch(spec: LaunchSpec): Promise<Launched> {
    const { hostId } = spec;
    const folder = this.#folderOf(hostId);
    await this.#options.makeProgram?.();
    await makeInstallationFolder(this.#root);
    await makeInstallationFolder(this.#snapshots);
    await makeHostFolder(folder);
    const group = await this.#start(spec, folder);
    return group === undefined ? this.adopt(hostId) : { runtimeId: String(group) };
  }

  async adopt(hostId: string): Promise<Launched> {
    const found = (await findHosts(this.#options.installation)).get(hostId);
    if (found === undefined) throw new AppError('not_found', `no process of host ${hostId} runs`);
    return { runtimeId: String(found.group) };
  }

  async end(hostId: string): Promise<LedgerMark | undefined> {
    const { installation } = this.#options;
    const folder = this.#folderOf(hostId);
    await endHost({ installation, hostId, folder });
    return readMark(folder);
  }

  async destroy(hostId: string): Promise<void> {
    const { installation } = this.#options;
    const folder = this.#folderOf(hostId);
    await endHost({ installation, hostId, folder });
    await removeFolder(folder);
    this.#children.delete(hostId);
  }

  logs(hostId: string): Promise<string> {
    return readOutputTail(this.#folderOf(hostId));
  }

  watch(onChange: () => void): Watch {
    this.#watchers.add(onChange);
    return {
      loops: [],
      stop: async () => {
        this.#watchers.delete(onChange);
      },
    };
  }

  async dismantle(): Promise<void> {
    await removeFolder(this.#root);
    await removeFolder(this.#snapshots);
  }

  #folderOf(hostId: string): string {
    return join(this.#root, hostId);
  }

  /** Starts a host's process; returns its group, or undefined when it was started before. */
  async #start(spec: LaunchSpec, folder: string): Promise<number | undefined> {
    const { hostId, shape } = spec;
    const options = { ...this.#options, snapshots: this.#snapshots };
    try {
      return await startHostProcess(spec, folder, options, this.digestOf(shape), (state) =>
        this.#setState(hostId, state),
      );
    } catch (cause) {
      this.#children.delete(hostId);
      await removeFolder(folder);
      throw new AppError('unavailable', `the process of host ${hostId} did not start`, { cause });
    }
  }

  #setState(hostId: string, state: ContainerExit | 'runs'): void {
    // A host that was destroyed meanwhile is not added again by its exit.
    if (state === 'runs' || this.#children.has(hostId)) this.#children.set(hostId, state);
    for (const notify of this.#watchers) notify();
  }

  async #describe(hostId: string, found: FoundProcess | undefined): Promise<Container> {
    const folder = this.#folderOf(hostId);
    const wasStarted = await boundOutput(folder);
    const exit = this.#children.get(hostId);
    const known = { hostId, digest: found?.digest ?? '' };
    // A child that has ended leaves the process table a moment before its exit event.
    if (found !== undefined || exit === 'runs') return { ...known, phase: 'running' };
    if (!wasStarted) return { ...known, phase: 'created' };
    const ledger = await readMark(folder);
    return {
      ...known,
      phase: 'exited',
      ...(exit === undefined ? {} : { exit }),
      ...(ledger === undefined ? {} : { ledger }),
    };
  }
}
