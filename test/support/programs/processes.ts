/** Finds the processes of an installation by their command lines (Linux). */
import { readdirSync, readFileSync } from 'node:fs';

export type FoundProcess = { pid: number; commandLine: string };

const commandLineOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return ''; // the process ended after it was listed
  }
};

export type ProcessStat = {
  pid: number;
  name: string;
  parent: number;
  /**
   * Start time, in ticks of the machine's clock. Process ids do not show the order of starts, since they begin again
   * after some ten thousand.
   */
  startedAt: number;
};

/** Reads the state of a process; returns undefined when it has ended. */
export const processStat = (pid: number): ProcessStat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, name = '', rest = ''] = /\((.*)\) (.*)/s.exec(text) ?? [];
    const fields = rest.split(' ');
    return { pid, name, parent: Number(fields[1]), startedAt: Number(fields[19]) };
  } catch (error) {
    if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return undefined;
  }
};

/** Returns the ids of all live processes. */
export const processIds = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Returns the process that was started first. */
export const startedFirst = (pids: readonly number[]): ProcessStat | undefined =>
  pids
    .flatMap((pid) => processStat(pid) ?? [])
    .sort((a, b) => a.startedAt - b.startedAt || a.pid - b.pid)[0];

/** Returns every live process whose command line contains the text. */
export const processesNaming = (text: string): FoundProcess[] =>
  processIds()
    .map((pid) => ({ pid, commandLine: commandLineOf(pid) }))
    .filter(({ commandLine }) => commandLine.includes(text));

/** Sends a signal to a process or a group; ignores one that is gone. */
export const signalTo = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/**
 * Kills every process whose command line contains the text; ignores one that has ended meanwhile, perhaps together with
 * another.
 */
export const killNaming = (text: string): void => {
  for (const { pid } of processesNaming(text)) signalTo(pid, 'SIGKILL');
};
