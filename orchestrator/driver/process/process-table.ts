/**
 * Finds processes by their command line or environment: from /proc on Linux, from `ps` elsewhere. A process that has
 * ended but was not waited for has no command line and so does not appear.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

export type ProcessRow = {
  command: string[];
  /** Returns the number of its process group, by which the whole group is killed. */
  group(): number;
  /** Returns true if it still runs with that command; false where only a list of all processes would show it. */
  stillRuns(): boolean;
};

const hasProc = process.platform === 'linux';

/** Reads a file of NUL-terminated words under /proc; empty when the process is gone or another user's. */
const readWords = (pid: number, file: 'cmdline' | 'environ'): string[] => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').slice(0, -1);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return [];
    throw error;
  }
};

/** Returns the group of a process. If the process is gone by now, it assumes that it led its group. */
const groupInProc = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold any characters; state, parent and group follow it.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return pid;
    throw error;
  }
};

const pidsInProc = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

const readPs = async (): Promise<ProcessRow[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pgid=,command='], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout.split('\n').map((line) => {
    const [group = '', ...command] = line.trim().split(/\s+/);
    return { command, group: () => Number(group), stillRuns: () => false };
  });
};

/** Returns every process that runs now. */
export const listProcesses = async (): Promise<ProcessRow[]> => {
  const rows = hasProc
    ? pidsInProc().map((pid) => {
        const command = readWords(pid, 'cmdline');
        return {
          command,
          group: () => groupInProc(pid),
          stillRuns: () => readWords(pid, 'cmdline').join('\0') === command.join('\0'),
        };
      })
    : await readPs();
  return rows.filter(({ command }) => command.length > 0);
};

/** Returns true if a process runs. One that has ended but was not waited for does not. */
export const isAlive = (pid: number): boolean => {
  if (hasProc) return readWords(pid, 'cmdline').length > 0;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
};

/**
 * Returns the processes started with a temporary folder or a home inside `folder`, as a host's own and its workers'
 * are. It finds workers that have outlived their host; empty where the system does not show environments.
 */
export const processesOfFolder = (folder: string): number[] =>
  hasProc
    ? pidsInProc().filter((pid) =>
        readWords(pid, 'environ').some(
          (word) => word.startsWith(`TMPDIR=${folder}/`) || word.startsWith(`HOME=${folder}/`),
        ),
      )
    : [];
