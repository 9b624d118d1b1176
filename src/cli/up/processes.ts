/**
 * What the operating system says about processes: whether one lives, when it started, what it runs.
 * A process is named by id and start time together, because ids are used again.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { pause } from '#runtime/pause.ts';

const hasProc = process.platform === 'linux';

const readProc = (pid: number, file: string): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
};

const runPs = (...options: string[]): string | undefined => {
  try {
    return execFileSync('ps', options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
};

/** Fields of `/proc/<pid>/stat` after the command name, which may itself hold blanks. */
const statFields = (pid: number): string[] | undefined =>
  readProc(pid, 'stat')
    ?.replace(/^.*\) /s, '')
    .split(' ');

/**
 * A text that stays the same for the life of a process and differs for the next with its id;
 * undefined when no such process runs (one that has ended but was not waited for does not run).
 */
export const processStart = (pid: number): string | undefined => {
  if (!hasProc) return runPs('-o', 'lstart=', '-p', String(pid))?.trim() || undefined;
  const fields = statFields(pid);
  return fields === undefined || fields[0] === 'Z' ? undefined : fields[19];
};

/** Whether a process with this id runs. */
export const isRunning = (pid: number): boolean => processStart(pid) !== undefined;

/** The words a process was started with, joined by blanks; '' when it cannot be known. */
export const commandLine = (pid: number): string => {
  if (!hasProc) return runPs('-o', 'command=', '-p', String(pid))?.trim() ?? '';
  return readProc(pid, 'cmdline')?.replaceAll('\0', ' ').trim() ?? '';
};

/** Ids of the running processes whose command line holds a text; this process is left out. */
export const findProcesses = (text: string): number[] => {
  const pids = hasProc
    ? readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    : (runPs('-A', '-o', 'pid=') ?? '').split('\n');
  return pids
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .filter((pid) => isRunning(pid) && commandLine(pid).includes(text));
};

/** Sends a process a signal; one that has ended meanwhile is fine. */
export const sendSignal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

// Programs of an installation that a killed `svc up` left behind. They end by themselves when their
// IPC channel closes; the next `up` waits for that, so that two generations never work at once.

const graceMs = 8_000;

const findLeftOvers = (installation: string): number[] =>
  findProcesses(installation).filter((pid) => commandLine(pid).startsWith('svc '));

/** Resolves when none of them runs; after the grace they are killed. Answers how many there were. */
export const endLeftOvers = async (installation: string, signal: AbortSignal): Promise<number> => {
  const found = findLeftOvers(installation);
  const endsAt = performance.now() + graceMs;
  while (found.some(isRunning) && performance.now() < endsAt) {
    await pause(25, signal);
    signal.throwIfAborted();
  }
  for (const pid of findLeftOvers(installation)) sendSignal(pid, 'SIGKILL');
  return found.length;
};
