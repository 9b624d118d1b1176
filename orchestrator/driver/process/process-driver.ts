/**
 * Runs world hosts as processes of this machine: for machines without a container engine, and for tests. A sandbox
 * isolates them where one works (sandbox.ts); otherwise only the operating system's separation between processes of
 * one user does. Worlds with untrusted code belong in containers.
 *
 * A host is a process group and a folder, named by its id. The process carries the labels at the end of its command
 * line; the folder shows hosts whose process is gone, or was never started.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { AppError } from '#domain/error.ts';
import { type HostShape, offerOf } from '#pools/pool-config.ts';
import { until } from '#runtime/pause.ts';
import { digestOf } from '../digest.ts';
import type { Container, ContainerExit, Driver, Launched } from '../driver.ts';
import { heapOptions } from '../heap.ts';
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
  kill,
  startHostProcess,
} from './host-process.ts';
import { createKnownHosts } from './known-hosts.ts';
import { isAlive, processesOfFolder } from './process-table.ts';

const endTimeoutMs = 10_000;

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

/** Creates the driver of one installation's hosts on this machine. */
export const createProcessDriver = (options: ProcessDriverOptions): Driver => {
  const { installation } = options;
  const root = installationFolder(options.temporaryDir, installation);
  /** Beside the installation's folder, since each folder inside that is a host's. */
  const snapshots = `${root}-snapshots`;
  const folderOf = (hostId: string): string => join(root, hostId);
  /** Hosts that this instance started, and how they ended once they have; a later instance cannot know. */
  const children = new Map<string, ContainerExit | 'runs'>();
  const watchers = new Set<() => void>();
  const knownHosts = createKnownHosts(installation);

  const tell = (hostId: string, state: ContainerExit | 'runs'): void => {
    if (state === 'runs') children.set(hostId, state);
    else if (children.has(hostId)) children.set(hostId, state);
    for (const notify of watchers) notify();
  };

  const adopt = async (hostId: string): Promise<Launched> => {
    const found = (await findHosts(installation)).get(hostId);
    if (found === undefined) throw new AppError('not_found', `no process of host ${hostId} runs`);
    return { runtimeId: String(found.group) };
  };

  const digest = (shape: HostShape): string => {
    const { release, sandbox } = options;
    return digestOf([release, sandbox.kind, offerOf(shape), heapOptions(shape.size.memoryMb)]);
  };

  const describe = async (hostId: string, found: FoundProcess | undefined): Promise<Container> => {
    const wasStarted = await boundOutput(folderOf(hostId));
    const exit = children.get(hostId);
    const known = { hostId, digest: found?.digest ?? '' };
    // A child that has ended leaves the process table a moment before its exit event.
    if (found !== undefined || exit === 'runs') return { ...known, phase: 'running' };
    if (!wasStarted) return { ...known, phase: 'created' };
    const ledger = await readMark(folderOf(hostId));
    return {
      ...known,
      phase: 'exited',
      ...(exit === undefined ? {} : { exit }),
      ...(ledger === undefined ? {} : { ledger }),
    };
  };

  /** Kills a host's group and its remaining workers; returns the processes that it killed. */
  const killAll = async (hostId: string): Promise<number[]> => {
    const leader = (await findHosts(installation)).get(hostId);
    const left = processesOfFolder(folderOf(hostId));
    if (leader !== undefined) kill(-leader.group);
    for (const pid of left) kill(pid);
    return leader === undefined ? left : [leader.group, ...left];
  };

  /**
   * Kills until none is left. A search for processes is expensive where there are many, so it waits for those found to
   * end.
   */
  const endAll = async (hostId: string): Promise<void> => {
    const endsAt = performance.now() + endTimeoutMs;
    for (;;) {
      const killed = await killAll(hostId);
      if (killed.length === 0) return;
      await until(() => !killed.some(isAlive), {
        timeoutMs: endsAt - performance.now(),
        what: `the end of host ${hostId}'s processes`,
      });
    }
  };

  return {
    runtime: 'process',
    addressing,
    isolation: options.sandbox.says,
    startsAtOnce: () => Math.max(1, Math.floor(availableParallelism() / 2)),
    digestOf: digest,
    async prepare({ onProgress }) {
      onProgress(options.sandbox.says);
      await makeInstallationFolder(root);
      return { listen: null, host: '127.0.0.1', image: null };
    },
    async list() {
      const folders = await listHostFolders(root);
      const started = [...children].filter(([, exit]) => exit === 'runs').map(([id]) => id);
      const running = await knownHosts({ folders, children: started });
      const hosts = [...new Set([...folders, ...running.keys()])];
      return Promise.all(hosts.map((hostId) => describe(hostId, running.get(hostId))));
    },
    async launch(spec) {
      const { hostId } = spec;
      const folder = folderOf(hostId);
      await options.makeProgram?.();
      await makeInstallationFolder(root);
      await makeInstallationFolder(snapshots);
      await makeHostFolder(folder);
      let group: number | undefined;
      try {
        const started = { ...options, snapshots };
        group = await startHostProcess(spec, folder, started, digest(spec.shape), (state) =>
          tell(hostId, state),
        );
      } catch (cause) {
        children.delete(hostId);
        await removeFolder(folder);
        throw new AppError('unavailable', `the process of host ${hostId} did not start`, { cause });
      }
      return group === undefined ? adopt(hostId) : { runtimeId: String(group) };
    },
    adopt,
    async end(hostId) {
      await endAll(hostId);
      return readMark(folderOf(hostId));
    },
    async destroy(hostId) {
      await endAll(hostId);
      await removeFolder(folderOf(hostId));
      children.delete(hostId);
    },
    logs: (hostId) => readOutputTail(folderOf(hostId)),
    watch(onChange) {
      watchers.add(onChange);
      return {
        loops: [],
        async stop() {
          watchers.delete(onChange);
        },
      };
    },
    async dismantle() {
      await removeFolder(root);
      await removeFolder(snapshots);
    },
  };
};
