/**
 * Reads the state of processes from the operating system: whether a process runs, its start time, its command line. Ids
 * are reused, so a process is identified by its id together with its start time.
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

/** Returns the fields of `/proc/<pid>/stat` after the command name, which may contain spaces. */
const statFields = (pid: number): string[] | undefined =>
  readProc(pid, 'stat')
    ?.replace(/^.*\) /s, '')
    .split(' ');

/**
 * Returns a text that stays the same for the life of a process and differs for a later process with the same id.
 * Returns undefined if no such process runs; a zombie counts as not running.
 */
export const processStart = (pid: number): string | undefined => {
  if (!hasProc) return runPs('-o', 'lstart=', '-p', String(pid))?.trim() || undefined;
  const fields = statFields(pid);
  return fields === undefined || fields[0] === 'Z' ? undefined : fields[19];
};

/** Returns true if a process with this id runs. */
export const isRunning = (pid: number): boolean => processStart(pid) !== undefined;

/** Returns the command line of a process, joined by spaces; '' if it is unknown. */
export const commandLine = (pid: number): string => {
  if (!hasProc) return runPs('-o', 'command=', '-p', String(pid))?.trim() ?? '';
  return readProc(pid, 'cmdline')?.replaceAll('\0', ' ').trim() ?? '';
};

/** Returns the ids of running processes whose command line contains a text, except this process. */
export const findProcesses = (text: string): number[] => {
  const pids = hasProc
    ? readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    : (runPs('-A', '-o', 'pid=') ?? '').split('\n');
  return pids
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid)
    .filter((pid) => isRunning(pid) && commandLine(pid).includes(text));
};

/** Sends a signal to a process. It is not an error if the process has ended meanwhile. */
export const sendSignal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

// Programs of an installation that a killed `svc up` left behind. They end by themselves when their IPC channel
// closes. The next `up` waits for that, so that two generations never run at once.

const graceMs = 8_000;

const findLeftOvers = (installation: string): number[] =>
  findProcesses(installation).filter((pid) => commandLine(pid).startsWith('svc '));

/**
 * Waits until no program with this text in its command line runs. After the grace period, kills those that remain.
 * Returns their number.
 */
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
