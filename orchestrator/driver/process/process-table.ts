/**
 * Finds processes by what they were started with: from /proc on Linux, from `ps` elsewhere. A process
 * that has ended but was not waited for has no command line and so does not appear.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

export type ProcessRow = {
  command: string[];
  /** The number of its process group, by which all of the group is killed. */
  group(): number;
  /** Whether it runs with that command now; false where only a list of all would tell. */
  stillRuns(): boolean;
};

const hasProc = process.platform === 'linux';

/** A file of NUL-terminated words under /proc; none when the process is gone or another user's. */
const readWords = (pid: number, file: 'cmdline' | 'environ'): string[] => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').slice(0, -1);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return [];
    throw error;
  }
};

/** A process that is gone by now stood at the head of its group, for all that can still be told. */
const groupInProc = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the name in parentheses, which may hold anything: state, parent, group.
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

/** Every process that runs now. */
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

/** Whether a process runs. One that has ended but was not waited for does not. */
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
 * Processes started with a temporary folder or a home inside `folder`, as a host's own and its workers' are. It
 * finds workers that have outlived their host; empty where the system does not show environments.
 */
export const processesOfFolder = (folder: string): number[] =>
  hasProc
    ? pidsInProc().filter((pid) =>
        readWords(pid, 'environ').some(
          (word) => word.startsWith(`TMPDIR=${folder}/`) || word.startsWith(`HOME=${folder}/`),
        ),
      )
    : [];
