/** The processes of an installation, found by their command lines (Linux). */
import { readdirSync, readFileSync } from 'node:fs';

export type FoundProcess = { pid: number; commandLine: string };

const commandLineOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return ''; // it ended between the listing and the look
  }
};

export type ProcessStat = {
  pid: number;
  name: string;
  parent: number;
  /** In ticks of the machine's clock. Numbers of processes begin anew after some ten thousand, and tell no order. */
  startedAt: number;
};

/** What the machine says of a process; undefined when it has ended. */
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

/** The numbers of all live processes. */
export const processIds = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Of processes the one that was started first. */
export const startedFirst = (pids: readonly number[]): ProcessStat | undefined =>
  pids
    .flatMap((pid) => processStat(pid) ?? [])
    .sort((a, b) => a.startedAt - b.startedAt || a.pid - b.pid)[0];

/** Every live process whose command line names the text. */
export const processesNaming = (text: string): FoundProcess[] =>
  processIds()
    .map((pid) => ({ pid, commandLine: commandLineOf(pid) }))
    .filter(({ commandLine }) => commandLine.includes(text));

/** A signal to a process or a group that may be gone by now, which is as good. */
export const signalTo = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/** Kills them all; one that has ended meanwhile, perhaps with another of them, is no failure. */
export const killNaming = (text: string): void => {
  for (const { pid } of processesNaming(text)) signalTo(pid, 'SIGKILL');
};
