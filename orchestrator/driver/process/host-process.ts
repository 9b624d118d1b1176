/**
 * Starts, finds and kills the process of a host. It leads a process group of its own, detached, so that it continues
 * when the orchestrator ends. The labels on its command line identify it, and it is killed with its group.
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
  /** PATH of the hosts, used to find Python. */
  path: string;
  /** Arguments of Node that start a world host; the labels follow them. */
  command: readonly string[];
  /**
   * Arguments of Node that start a browser, and the executable of its Chromium (undefined: its usual path on the
   * machine).
   */
  browser: { command: readonly string[]; chromium: string | undefined };
  sandbox: Sandbox;
  /** Folder in which all hosts of the machine keep unpacked snapshots of large worlds. */
  snapshots: string;
  /** Folder of the program's precompiled code; if absent, each start compiles the program. */
  compiled?: string | undefined;
};

/** Size budget of unpacked snapshots on the machine's disk, in MiB. */
const snapshotsMb = 16 * 1024;

/** The host itself reports its address, since it chooses a free port on the loopback address. */
export const addressing = 'loopback';

/** Number that a shell adds to the number of a signal to form the exit status that reports it. */
const signalledStatus = 128;

/**
 * Returns the signal that ended a host, whether reported by the system or by the shell that waits for it (sandbox.ts).
 */
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
 * Builds the environment of a browser, which runs outside the sandbox of world hosts. Chromium has a sandbox of its
 * own, and the browser program restricts its network (docs/internals/browser.md).
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
    addressing,
    workDir: join(folder, 'work'),
    tokenFile: '-',
    route: 'direct',
  }),
});

const environmentOf = (
  spec: LaunchSpec,
  folder: string,
  { compiled, host, path, python, sandbox, snapshots }: HostProcessOptions,
): Record<string, string> => ({
  PATH: path,
  HOME: folder,
  // This path in the environment identifies the host's processes, its workers included (process-table.ts).
  TMPDIR: `${folder}/`,
  ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
  ...hostEnvironment(spec, host, {
    listen: '127.0.0.1:0',
    addressing,
    workDir: join(folder, 'work'),
    ledgerMark: join(folder, ledgerMarkName),
    snapshots: { folder: snapshots, mb: snapshotsMb },
    tokenFile: '-',
    python: (sandbox.kind === 'none' ? undefined : sandbox.python) ?? python,
    namespaces: sandbox.kind === 'none' ? [] : ['pid', 'ipc', 'mount'],
  }),
});

/** Builds the command of a host, in its sandbox: the program, and the labels. */
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

/** Writes the token to the host's standard input; a host that ended before reading it needs none. */
const giveToken = ({ stdin }: ChildProcess, { token }: LaunchSpec): void => {
  stdin?.on('error', () => undefined).end(`${token.reveal()}\n`);
};

/**
 * Starts a host in its folder. Reports that it runs and, later, how it ended. Returns the number of its process group,
 * or undefined when it was started before. Rejects when the process cannot be started.
 */
export const startHostProcess = async (
  spec: LaunchSpec,
  folder: string,
  options: HostProcessOptions,
  digest: string,
  report: (state: ContainerExit | 'runs') => void,
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
    // Written at once, so that no host is left without a token if this program ends.
    giveToken(child, spec);
    report('runs');
    child.on('exit', (code, signal) => report(describeExit(code, signal)));
    await once(child, 'spawn');
    child.unref();
    return child.pid;
  } finally {
    await output.close();
  }
};

/** Processes of a host in the process group that it was started with. */
export type FoundProcess = { group: number; digest: string; stillRuns(): boolean };

/** Returns the processes of an installation's hosts, by host. */
export const findHosts = async (installation: string): Promise<Map<string, FoundProcess>> => {
  const found = new Map<string, FoundProcess>();
  for (const { command, group, stillRuns } of await listProcesses()) {
    const owner = ownerOfCommand(command);
    if (owner?.installation !== installation || found.has(owner.hostId)) continue;
    found.set(owner.hostId, { group: group(), digest: owner.digest, stillRuns });
  }
  return found;
};

/** Sends SIGKILL to a process or, by a negative number, a group; ignores one that is gone. */
export const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};
