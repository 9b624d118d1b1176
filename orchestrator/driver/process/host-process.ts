/**
 * The process of a host: started at the head of a group of its own, detached, so that it goes on when
 * the orchestrator ends; found again by the labels on its command line; killed with its group.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ContainerExit, LaunchSpec } from '../driver.ts';
import { type HostSettings, hostEnvironment } from '../host-environment.ts';
import { argumentsOf, ownerOfCommand } from '../labels.ts';
import { openOutput } from './host-folder.ts';
import { listProcesses } from './process-table.ts';

export type HostProcessOptions = {
  installation: string;
  host: HostSettings;
  python: string;
  /** PATH of the hosts, for finding Python. */
  path: string;
  /** Arguments of Node that start a world host; the labels follow them. */
  command: readonly string[];
};

const describeExit = (code: number | null, signal: string | null): ContainerExit => ({
  reason: 'exited',
  detail: signal === null ? `exit status ${code}` : `ended by ${signal}`,
});

const environmentOf = (
  spec: LaunchSpec,
  folder: string,
  { host, path, python }: HostProcessOptions,
): Record<string, string> => ({
  PATH: path,
  HOME: folder,
  // By this the host's processes are known, its workers too (process-table.ts).
  TMPDIR: `${folder}/`,
  ...hostEnvironment(spec, host, {
    listen: '127.0.0.1:0',
    reportsAddress: true,
    workDir: join(folder, 'work'),
    python,
  }),
});

/** Starts a host in its folder; answers its process id. Rejects when the process cannot be started. */
export const startHostProcess = async (
  spec: LaunchSpec,
  folder: string,
  options: HostProcessOptions,
  digest: string,
  onExit: (exit: ContainerExit) => void,
): Promise<number | undefined> => {
  const { hostId, shape } = spec;
  const labels = { installation: options.installation, pool: shape.pool, hostId, digest };
  const output = await openOutput(folder);
  try {
    const child = spawn(process.execPath, [...options.command, ...argumentsOf(labels)], {
      cwd: folder,
      detached: true,
      env: environmentOf(spec, folder, options),
      stdio: ['ignore', output.fd, output.fd],
    });
    child.on('exit', (code, signal) => onExit(describeExit(code, signal)));
    await once(child, 'spawn');
    child.unref();
    return child.pid;
  } finally {
    await output.close();
  }
};

/** A host's process, the head of a group of its own. */
export type FoundProcess = { pid: number; digest: string };

/** The processes of an installation's hosts, by host. */
export const findHosts = async (installation: string): Promise<Map<string, FoundProcess>> => {
  const found = new Map<string, FoundProcess>();
  for (const { pid, command } of await listProcesses()) {
    const owner = ownerOfCommand(command);
    if (owner?.installation === installation)
      found.set(owner.hostId, { pid, digest: owner.digest });
  }
  return found;
};

/** Sends SIGKILL to a process or, by a negative number, a group; one that is gone needs none. */
export const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};
