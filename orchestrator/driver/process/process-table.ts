/**
 * Finds processes by what they were started with: from /proc on Linux, from `ps` elsewhere. A process
 * that has ended but was not waited for has no command line and so does not appear.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

export type ProcessRow = { pid: number; command: string[] };

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

const pidsInProc = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

const readPs = async (): Promise<ProcessRow[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,command='], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout.split('\n').map((line) => {
    const [pid = '', ...command] = line.trim().split(/\s+/);
    return { pid: Number(pid), command };
  });
};

/** Every process that runs now. */
export const listProcesses = async (): Promise<ProcessRow[]> => {
  const rows = hasProc
    ? pidsInProc().map((pid) => ({ pid, command: readWords(pid, 'cmdline') }))
    : await readPs();
  return rows.filter(({ command }) => command.length > 0);
};

/**
 * Processes started with a temporary folder inside `folder`, as a host's own and its workers' are. It
 * finds workers that have outlived their host; empty where the system does not show environments.
 */
export const processesOfFolder = (folder: string): number[] =>
  hasProc
    ? pidsInProc().filter((pid) =>
        readWords(pid, 'environ').some((word) => word.startsWith(`TMPDIR=${folder}/`)),
      )
    : [];
