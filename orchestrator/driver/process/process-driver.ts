/**
 * World hosts as processes of this machine: for machines without a container engine, and for tests.
 * It separates hosts as the operating system separates processes of one user and no further; worlds
 * whose code is not trusted belong on containers.
 *
 * A host is a process group and a folder, named by its id. The process carries the labels at the end
 * of its command line; the folder tells of hosts whose process is gone.
 */
import { join } from 'node:path';
import { AppError } from '#domain/error.ts';
import { until } from '#runtime/pause.ts';
import type { HostShape } from '../../pools/pool-config.ts';
import { digestOf } from '../digest.ts';
import type { Container, ContainerExit, Driver, Launched } from '../driver.ts';
import {
  boundOutput,
  claimHostFolder,
  installationFolder,
  listHostFolders,
  makeInstallationFolder,
  readOutputTail,
  removeFolder,
} from './host-folder.ts';
import {
  type FoundProcess,
  findHosts,
  type HostProcessOptions,
  kill,
  startHostProcess,
} from './host-process.ts';
import { processesOfFolder } from './process-table.ts';

const endTimeoutMs = 5_000;

export type ProcessDriverOptions = HostProcessOptions & {
  /** Where the installation's folder is made. */
  temporaryDir: string;
};

/** A driver of one installation's hosts on this machine. */
export const createProcessDriver = (options: ProcessDriverOptions): Driver => {
  const { installation } = options;
  const root = installationFolder(options.temporaryDir, installation);
  const folderOf = (hostId: string): string => join(root, hostId);
  /** Hosts that this instance started, and how they ended once they have; a later one cannot know. */
  const children = new Map<string, ContainerExit | 'runs'>();
  const watchers = new Set<() => void>();

  const onExit = (hostId: string, exit: ContainerExit): void => {
    if (children.has(hostId)) children.set(hostId, exit);
    for (const notify of watchers) notify();
  };

  const adopt = async (hostId: string): Promise<Launched> => {
    const found = (await findHosts(installation)).get(hostId);
    if (found === undefined) throw new AppError('not_found', `no process of host ${hostId} runs`);
    return { runtimeId: String(found.pid) };
  };

  const digest = ({ isolation }: HostShape): string => digestOf({ isolation });

  const describe = (hostId: string, found: FoundProcess | undefined): Container => {
    const exit = children.get(hostId);
    const known = { hostId, digest: found?.digest ?? '' };
    // A child that has ended is out of the table a moment before its exit is told.
    if (found !== undefined || exit === 'runs') return { ...known, phase: 'running' };
    return { ...known, phase: 'exited', ...(exit === undefined ? {} : { exit }) };
  };

  /** Kills a host's group and whatever workers are left of it; answers whether there were any. */
  const killAll = async (hostId: string): Promise<boolean> => {
    const leader = (await findHosts(installation)).get(hostId);
    const left = processesOfFolder(folderOf(hostId));
    if (leader !== undefined) kill(-leader.pid);
    for (const pid of left) kill(pid);
    return leader !== undefined || left.length > 0;
  };

  return {
    runtime: 'process',
    digestOf: digest,
    async prepare() {
      await makeInstallationFolder(root);
      return { listen: null, host: '127.0.0.1', image: null };
    },
    async list() {
      const [running, folders] = await Promise.all([
        findHosts(installation),
        listHostFolders(root),
      ]);
      await Promise.all(folders.map((hostId) => boundOutput(folderOf(hostId))));
      const hosts = new Set([...folders, ...running.keys()]);
      return [...hosts].map((hostId) => describe(hostId, running.get(hostId)));
    },
    async launch(spec) {
      const { hostId } = spec;
      const folder = folderOf(hostId);
      await makeInstallationFolder(root);
      if (!(await claimHostFolder(folder))) return adopt(hostId);
      try {
        const made = digest(spec.shape);
        const pid = await startHostProcess(spec, folder, options, made, (exit) =>
          onExit(hostId, exit),
        );
        children.set(hostId, 'runs');
        return { runtimeId: String(pid) };
      } catch (cause) {
        await removeFolder(folder);
        throw new AppError('unavailable', `the process of host ${hostId} did not start`, { cause });
      }
    },
    adopt,
    async destroy(hostId) {
      await until(async () => !(await killAll(hostId)), {
        timeoutMs: endTimeoutMs,
        what: `the end of host ${hostId}'s processes`,
      });
      await removeFolder(folderOf(hostId));
      children.delete(hostId);
    },
    logs: (hostId) => readOutputTail(folderOf(hostId)),
    watch(onChange) {
      watchers.add(onChange);
      return {
        async stop() {
          watchers.delete(onChange);
        },
      };
    },
    dismantle: () => removeFolder(root),
  };
};
