/**
 * The process of a host: started at the head of a group of its own, detached, so that it goes on when
 * the orchestrator ends; found again by the labels on its command line; killed with its group.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import { kindOf } from '#pools/pool-config.ts';
import type { ContainerExit, LaunchSpec } from '../driver.ts';
import { heapExit, heapSignal } from '../heap.ts';
import { browserEnvironment, type HostSettings, hostEnvironment } from '../host-environment.ts';
import { argumentsOf, ownerOfCommand } from '../labels.ts';
import { ledgerMarkName, openOutput } from './host-folder.ts';
import { listProcesses } from './process-table.ts';
import { type Sandbox, sandboxed } from './sandbox.ts';

export type HostProcessOptions = {
  installation: string;
  host: HostSettings;
  python: string;
  /** PATH of the hosts, for finding Python. */
  path: string;
  /** Arguments of Node that start a world host; the labels follow them. */
  command: readonly string[];
  /** The same of a browser, and the program of its Chromium; absent: where the machine usually has it. */
  browser: { command: readonly string[]; chromium: string | undefined };
  sandbox: Sandbox;
  /** Where all hosts of the machine keep unpacked snapshots of large worlds. */
  snapshots: string;
  /** Folder of the program's code compiled ahead; absent: it is compiled at each start. */
  compiled?: string | undefined;
};

/** What unpacked snapshots may take on the machine's disk. */
const snapshotsMb = 16 * 1024;

/** A shell reports a signal as an exit status above this. */
const signalledStatus = 128;

/** The signal that ended a host, be it told by the system or by its keeper (sandbox.ts). */
const signalOf = (code: number | null, signal: string | null): string | undefined => {
  if (signal !== null) return signal;
  const number = (code ?? 0) - signalledStatus;
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
};

const describeExit = (code: number | null, signalName: string | null): ContainerExit => {
  const signal = signalOf(code, signalName);
  if (signal === heapSignal) return heapExit;
  return {
    reason: 'exited',
    detail: signal === undefined ? `exit status ${code}` : `ended by ${signal}`,
  };
};

/**
 * A browser runs beside the sandboxes of world hosts: Chromium has its own, and its fence is the program's
 * (docs/internals/browser.md).
 */
const browserEnvironmentOf = (
  spec: LaunchSpec,
  folder: string,
  { browser: { chromium }, host, path }: HostProcessOptions,
): Record<string, string> => ({
  PATH: path,
  HOME: folder,
  TMPDIR: `${folder}/`,
  ...(chromium === undefined ? {} : { SVC_CHROMIUM: chromium }),
  ...browserEnvironment(spec, host, {
    listen: '127.0.0.1:0',
    reportsAddress: true,
    workDir: join(folder, 'work'),
    tokenFile: '-',
    way: 'direct',
  }),
});

const environmentOf = (
  spec: LaunchSpec,
  folder: string,
  { compiled, host, path, python, sandbox, snapshots }: HostProcessOptions,
): Record<string, string> => ({
  PATH: path,
  HOME: folder,
  // By this the host's processes are known, its workers too (process-table.ts).
  TMPDIR: `${folder}/`,
  ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
  ...hostEnvironment(spec, host, {
    listen: '127.0.0.1:0',
    reportsAddress: true,
    workDir: join(folder, 'work'),
    ledgerMark: join(folder, ledgerMarkName),
    snapshots: { folder: snapshots, mb: snapshotsMb },
    tokenFile: '-',
    python: (sandbox.kind === 'none' ? undefined : sandbox.python) ?? python,
    namespaces: sandbox.kind === 'none' ? [] : ['pid', 'ipc', 'mount'],
  }),
});

/** The command of a host, in its sandbox: the program, and the labels. */
const commandOf = (
  { hostId, shape }: LaunchSpec,
  folder: string,
  { installation, browser, command, sandbox, snapshots }: HostProcessOptions,
  digest: string,
): string[] => {
  const labels = argumentsOf({ installation, pool: shape.pool, hostId, digest });
  if (kindOf(shape) === 'browser') return [process.execPath, ...browser.command, ...labels];
  const words = [process.execPath, ...command, ...labels];
  return sandbox.kind === 'none' ? words : sandboxed(sandbox, [folder, snapshots], words);
};

/** Hands the token over on the host's standard input; one that ended before it read it needs none. */
const giveToken = ({ stdin }: ChildProcess, { token }: LaunchSpec): void => {
  stdin?.on('error', () => undefined).end(`${token.reveal()}\n`);
};

/**
 * Starts a host in its folder and tells that it runs and, later, how it ended; answers the number of its
 * group, or undefined when it was started before. Rejects when the process cannot be started.
 */
export const startHostProcess = async (
  spec: LaunchSpec,
  folder: string,
  options: HostProcessOptions,
  digest: string,
  tell: (state: ContainerExit | 'runs') => void,
): Promise<number | undefined> => {
  const output = await openOutput(folder);
  if (output === undefined) return undefined;
  try {
    const [program = '', ...words] = commandOf(spec, folder, options, digest);
    const child = spawn(program, words, {
      cwd: folder,
      detached: true,
      env:
        kindOf(spec.shape) === 'browser'
          ? browserEnvironmentOf(spec, folder, options)
          : environmentOf(spec, folder, options),
      stdio: ['pipe', output.fd, output.fd],
    });
    // At once, so that an end of this program leaves no host behind that has none.
    giveToken(child, spec);
    tell('runs');
    child.on('exit', (code, signal) => tell(describeExit(code, signal)));
    await once(child, 'spawn');
    child.unref();
    return child.pid;
  } finally {
    await output.close();
  }
};

/** A host's processes, as far as they are in the group that it was started as. */
export type FoundProcess = { group: number; digest: string; stillRuns(): boolean };

/** The processes of an installation's hosts, by host. */
export const findHosts = async (installation: string): Promise<Map<string, FoundProcess>> => {
  const found = new Map<string, FoundProcess>();
  for (const { command, group, stillRuns } of await listProcesses()) {
    const owner = ownerOfCommand(command);
    if (owner?.installation !== installation || found.has(owner.hostId)) continue;
    found.set(owner.hostId, { group: group(), digest: owner.digest, stillRuns });
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
