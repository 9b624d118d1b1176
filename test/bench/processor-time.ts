/**
 * The processor time that programs took so far, with all that they started: of each process in its tree
 * what it used itself, and what those used that it started and that have ended. From /proc, so on Linux alone.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Of the clock in which /proc counts, on all that Linux runs on. */
const ticksPerSecond = 100;

/** `ownMs`: without those that it started and that have ended. */
type Process = { parent: number; ms: number; ownMs: number };

/** The process as it is now; undefined when it has ended meanwhile. */
const readProcess = (pid: string): Process | undefined => {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return undefined;
    throw error;
  }
  // The name may have spaces; what follows it is the third field and those after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const msOf = (count: number): number => {
    const ticks = fields.slice(11, 11 + count).reduce((sum, field) => sum + Number(field), 0);
    return (ticks * 1_000) / ticksPerSecond;
  };
  return { parent: Number(fields[1]), ms: msOf(4), ownMs: msOf(2) };
};

/** What a program took, and those that it started, in milliseconds. */
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

/** Reads it of several programs at one moment. */
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
 * Watches what programs take with all that they start from now on, also where those end without anybody who would
 * know their time, as workers do that are killed with their parent. Ends with the sum, in milliseconds.
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
