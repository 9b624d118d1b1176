/**
 * Faults that the sweep causes on world hosts behind their driver's back, on each runtime, and a search for their
 * remains on the machine.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kill } from '../../../orchestrator/driver/process/host-process.ts';
import { processesOfFolder } from '../../../orchestrator/driver/process/process-table.ts';
import { docker } from '../../support/orchestrator/runtimes.ts';
import { processesNaming, signalTo } from '../../support/programs/processes.ts';

export type Containers = {
  kill(hostId: string): Promise<void>;
  pause(hostId: string): Promise<void>;
  resume(hostId: string): Promise<void>;
  /** Kills the processes that run user code, and not the host itself. */
  killWorkers(hostId: string): Promise<void>;
  /**
   * Takes the host off its network, and returns the function that reconnects it. Absent if the runtime cannot do that.
   */
  unplug?(hostId: string): Promise<() => Promise<void>>;
  /** Returns the host's address as the runtime knows it; undefined if the runtime does not know it. */
  addressOf(hostId: string): Promise<string | undefined>;
  /** Returns the hosts that have a container, alive or dead, and descriptions of any other leftovers. */
  find(): Promise<{ hostIds: string[]; strays: string[] }>;
};

/** Reads a file of a process from `/proc`; empty when it has ended meanwhile, or may not be read. */
const readOf = (pid: number, file: 'cmdline' | 'environ'): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'ESRCH', 'EACCES'].includes(code)) throw error;
    return '';
  }
};

const commandOf = (pid: number): string => readOf(pid, 'cmdline').replaceAll('\0', ' ');

const listFolder = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};

const hostInCommand = (commandLine: string): string =>
  /--host=(\S+)/.exec(commandLine)?.[1] ?? commandLine;

const onProcesses = (installation: string): Containers => {
  const root = join(tmpdir(), `svc-${installation}`);
  const named = (hostId: string) => processesNaming(`--host=${hostId}`).map(({ pid }) => pid);
  const workers = (folder: string) =>
    processesOfFolder(folder).filter((pid) => !commandOf(pid).includes('--host='));
  const signalAll = (hostId: string, name: NodeJS.Signals): void => {
    for (const pid of named(hostId)) signalTo(pid, name);
  };
  return {
    kill: async (hostId) => {
      for (const pid of named(hostId)) kill(pid);
    },
    pause: async (hostId) => signalAll(hostId, 'SIGSTOP'),
    resume: async (hostId) => signalAll(hostId, 'SIGCONT'),
    killWorkers: async (hostId) => {
      for (const pid of workers(join(root, hostId))) kill(pid);
    },
    addressOf: async () => undefined,
    async find() {
      const folders = listFolder(root);
      const running = processesNaming(`--installation=${installation}`);
      const hostIds = [...folders, ...running.map(({ commandLine }) => hostInCommand(commandLine))];
      const strays = processesOfFolder(root)
        .map((pid) => ({ pid, environment: readOf(pid, 'environ') }))
        .filter(({ environment }) => !folders.some((name) => environment.includes(`/${name}/`)))
        .map(({ pid }) => `process ${pid}: ${commandOf(pid)}`);
      return { hostIds: [...new Set(hostIds)], strays };
    },
  };
};

const words = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** Exit status of a command whose container ended while it ran. */
const killedStatus = 137;

/** Script that ends every process in a container without the host's id in its environment: those that run user code. */
const killWorkersInside = `
  const { readdirSync, readFileSync } = require('node:fs');
  for (const pid of readdirSync('/proc').filter((name) => /^\\d+$/.test(name))) {
    try {
      const environment = readFileSync('/proc/' + pid + '/environ', 'utf8');
      if (!environment.includes('SVC_HOST_ID=')) process.kill(Number(pid), 'SIGKILL');
    } catch (error) {
      if (!['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(error.code)) throw error;
    }
  }`;

const onDocker = (installation: string): Containers => {
  const label = ['--filter', `label=svc.installation=${installation}`];
  const nameOf = (hostId: string): string => `svc-${hostId}`;
  /** Returns the engine's output; empty for a container that is gone, has ended or does not run yet. */
  const tell = async (...command: string[]): Promise<string> => {
    try {
      return await docker(...command);
    } catch (error) {
      const hasEnded = (error as { code?: unknown }).code === killedStatus;
      if (!hasEnded && !/No such container|is not running|No public port/.test(String(error)))
        throw error;
      return '';
    }
  };
  /** Sends signals from outside, as not every engine can pause containers. The engine must be on this machine. */
  const signalAll = async (hostId: string, name: NodeJS.Signals): Promise<void> => {
    const [, ...pids] = words(await tell('top', nameOf(hostId), '-eo', 'pid'));
    for (const pid of pids) signalTo(Number(pid), name);
  };
  return {
    kill: async (hostId) => void (await tell('kill', nameOf(hostId))),
    pause: (hostId) => signalAll(hostId, 'SIGSTOP'),
    resume: (hostId) => signalAll(hostId, 'SIGCONT'),
    killWorkers: async (hostId) =>
      void (await tell('exec', nameOf(hostId), 'node', '-e', killWorkersInside)),
    async unplug(hostId) {
      const onNetwork = (step: 'connect' | 'disconnect') =>
        tell('network', step, `svc-${installation}`, nameOf(hostId));
      await onNetwork('disconnect');
      return async () => void (await onNetwork('connect'));
    },
    async addressOf(hostId) {
      const published = await tell('port', nameOf(hostId), '8080/tcp');
      const [place] = words(published);
      return place === undefined ? undefined : `http://${place}`;
    },
    async find() {
      const names = words(await docker('ps', '--all', '--format', '{{.Names}}', ...label));
      const networks = words(await docker('network', 'ls', '--quiet', ...label));
      const isHost = (name: string): boolean => /^svc-hst-[a-z0-9]+$/.test(name);
      return {
        hostIds: names.filter(isHost).map((name) => name.slice('svc-'.length)),
        strays: [
          ...names.filter((name) => !isHost(name)),
          ...networks.slice(1).map((id) => `network ${id}, more than one`),
        ],
      };
    },
  };
};

/** Returns access to the containers of an installation. */
export const containersOf = (runtime: 'process' | 'docker', installation: string): Containers =>
  runtime === 'docker' ? onDocker(installation) : onProcesses(installation);
