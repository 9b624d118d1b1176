/**
 * World hosts as processes of this machine: for machines without a container engine, and for tests.
 * It separates hosts as the operating system separates processes of one user and no further; worlds
 * whose code is not trusted belong on containers.
 *
 * A host is a process group and a folder, named by its id. The process carries the labels at the end
 * of its command line; the folder tells of hosts whose process is gone.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { AppError } from '#domain/error.ts';
import { until } from '#runtime/pause.ts';
import type { Container, ContainerExit, Driver, Launched, LaunchSpec } from '../driver.ts';
import { type HostSettings, hostEnvironment } from '../host-environment.ts';
import { argumentsOf, ownerOfCommand } from '../labels.ts';
import {
  boundOutput,
  claimHostFolder,
  installationFolder,
  listHostFolders,
  makeInstallationFolder,
  openOutput,
  readOutputTail,
  removeFolder,
} from './host-folder.ts';
import { listProcesses, processesOfFolder } from './process-table.ts';

const endTimeoutMs = 5_000;

export type ProcessDriverOptions = {
  installation: string;
  host: HostSettings;
  python: string;
  /** PATH of the hosts, for finding Python. */
  path: string;
  /** Where the installation's folder is made. */
  temporaryDir: string;
  /** Arguments of Node that start a world host; the labels follow them. */
  command: readonly string[];
};

const describeExit = (code: number | null, signal: string | null): ContainerExit => ({
  reason: 'exited',
  detail: signal === null ? `exit status ${code}` : `ended by ${signal}`,
});

/** Sends SIGKILL to a process or, by a negative number, a group; one that is gone needs none. */
const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/** A driver of one installation's hosts on this machine. */
export const createProcessDriver = (options: ProcessDriverOptions): Driver => {
  const { installation } = options;
  const root = installationFolder(options.temporaryDir, installation);
  const folderOf = (hostId: string): string => join(root, hostId);
  /** How hosts that this instance started have ended; a later instance does not know. */
  const exits = new Map<string, ContainerExit>();
  const watchers = new Set<() => void>();

  /** Process ids of this installation's hosts, by host. Each heads a group of its own. */
  const findHosts = async (): Promise<Map<string, number>> => {
    const found = new Map<string, number>();
    for (const { pid, command } of await listProcesses()) {
      const owner = ownerOfCommand(command);
      if (owner?.installation === installation) found.set(owner.hostId, pid);
    }
    return found;
  };

  const adopt = async (hostId: string): Promise<Launched> => {
    const pid = (await findHosts()).get(hostId);
    if (pid === undefined) throw new AppError('not_found', `no process of host ${hostId} runs`);
    return { runtimeId: String(pid) };
  };

  const start = async (spec: LaunchSpec, folder: string): Promise<Launched> => {
    const owner = { installation, pool: spec.pool, hostId: spec.hostId };
    const place = {
      listen: '127.0.0.1:0',
      reportsAddress: true,
      workDir: join(folder, 'work'),
      python: options.python,
    };
    const output = await openOutput(folder);
    try {
      const child = spawn(process.execPath, [...options.command, ...argumentsOf(owner)], {
        cwd: folder,
        detached: true,
        env: {
          PATH: options.path,
          HOME: folder,
          TMPDIR: `${folder}/`,
          ...hostEnvironment(spec, options.host, place),
        },
        stdio: ['ignore', output.fd, output.fd],
      });
      child.on('exit', (code, signal) => {
        exits.set(spec.hostId, describeExit(code, signal));
        for (const notify of watchers) notify();
      });
      await once(child, 'spawn');
      child.unref();
      return { runtimeId: String(child.pid) };
    } finally {
      await output.close();
    }
  };

  /** Kills a host's group and whatever workers are left of it; answers whether there were any. */
  const killAll = async (hostId: string): Promise<boolean> => {
    const leader = (await findHosts()).get(hostId);
    const left = processesOfFolder(folderOf(hostId));
    if (leader !== undefined) kill(-leader);
    for (const pid of left) kill(pid);
    return leader !== undefined || left.length > 0;
  };

  return {
    runtime: 'process',
    async prepare() {
      await makeInstallationFolder(root);
      return { listen: null, host: '127.0.0.1', image: null };
    },
    async list() {
      const [running, folders] = await Promise.all([findHosts(), listHostFolders(root)]);
      await Promise.all(folders.map((hostId) => boundOutput(folderOf(hostId))));
      return [...new Set([...folders, ...running.keys()])].map((hostId): Container => {
        if (running.has(hostId)) return { hostId, phase: 'running', outdated: false };
        const exit = exits.get(hostId);
        return {
          hostId,
          phase: 'exited',
          outdated: false,
          ...(exit === undefined ? {} : { exit }),
        };
      });
    },
    async launch(spec) {
      const folder = folderOf(spec.hostId);
      await makeInstallationFolder(root);
      if (!(await claimHostFolder(folder))) return adopt(spec.hostId);
      try {
        return await start(spec, folder);
      } catch (cause) {
        await removeFolder(folder);
        throw new AppError('unavailable', `the process of host ${spec.hostId} did not start`, {
          cause,
        });
      }
    },
    adopt,
    async destroy(hostId) {
      await until(async () => !(await killAll(hostId)), {
        timeoutMs: endTimeoutMs,
        what: `the end of host ${hostId}'s processes`,
      });
      await removeFolder(folderOf(hostId));
      exits.delete(hostId);
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
