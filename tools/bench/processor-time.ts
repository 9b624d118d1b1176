/**
 * Reads the processor time that programs have used so far, with all their child processes: for each process in a
 * program's tree its own time, and that of its children that have ended. It reads /proc, so it works on Linux alone.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Number of ticks in a second, the unit of the times in /proc; it is the same on all systems that run Linux. */
const ticksPerSecond = 100;

/** Processor times of a process; `ownMs` excludes those of its ended children. */
type Process = { parent: number; ms: number; ownMs: number };

/** Reads a process; returns undefined when it has ended meanwhile. */
const readProcess = (pid: string): Process | undefined => {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
  // The name may contain spaces; after it comes the third field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const msOf = (count: number): number => {
    const ticks = fields.slice(11, 11 + count).reduce((sum, field) => sum + Number(field), 0);
    return (ticks * 1_000) / ticksPerSecond;
  };
  return { parent: Number(fields[1]), ms: msOf(4), ownMs: msOf(2) };
};

/** Processor time of a program itself, and of its child processes, in milliseconds. */
export type TreeTime = { ownMs: number; startedMs: number };

const readAll = (): Map<number, Process> => {
  const all = new Map<number, Process>();
  for (const name of readdirSync('/proc')) {
    const read = /^\d+$/.test(name) ? readProcess(name) : undefined;
    if (read !== undefined) all.set(Number(name), read);
  }
  return all;
};

const createDescends = (all: ReadonlyMap<number, Process>) => {
  const descends = (pid: number, root: number): boolean => {
    const parent = all.get(pid)?.parent;
    return parent !== undefined && (parent === root || descends(parent, root));
  };
  return descends;
};

/** Reads the times of several programs at one moment. */
export const readProcessorTime = (roots: readonly number[]): TreeTime[] => {
  const all = readAll();
  const descends = createDescends(all);
  return roots.map((root) => {
    const started = [...all].filter(([pid]) => descends(pid, root));
    const startedMs = started.reduce((sum, [, { ms }]) => sum + ms, 0);
    return { ownMs: all.get(root)?.ms ?? 0, startedMs };
  });
};

const watchEveryMs = 250;

/**
 * Records the processor time of programs with all their child processes from now on, including children that end
 * without a parent that counts them, such as workers killed with their parent. Returns the function that ends it and
 * returns the sum, in milliseconds.
 */
export const watchProcessorTime = (roots: readonly number[]): (() => number) => {
  const first = new Map<number, number>();
  const last = new Map<number, number>();
  const look = (isFirst: boolean): void => {
    const all = readAll();
    const descends = createDescends(all);
    for (const [pid, { ownMs }] of all) {
      if (!roots.some((root) => root === pid || descends(pid, root))) continue;
      if (!first.has(pid)) first.set(pid, isFirst ? ownMs : 0);
      last.set(pid, ownMs);
    }
  };
  look(true);
  const timer = setInterval(look, watchEveryMs, false);
  return () => {
    clearInterval(timer);
    look(false);
    return [...last].reduce((sum, [pid, ms]) => sum + ms - (first.get(pid) ?? 0), 0);
  };
};
