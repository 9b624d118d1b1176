/**
 * The processor time that programs took so far, with all that they started: of each process in its tree
 * what it used itself, and what those used that it started and that have ended. From /proc, so on Linux alone.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Of the clock in which /proc counts, on all that Linux runs on. */
const ticksPerSecond = 100;

type Process = { parent: number; ms: number };

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
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ms: (ticks * 1_000) / ticksPerSecond };
};

/** What a program took, and those that it started, in milliseconds. */
export type TreeTime = { ownMs: number; startedMs: number };

/** Reads it of several programs at one moment. */
export const readProcessorTime = (roots: readonly number[]): TreeTime[] => {
  const all = new Map<number, Process>();
  for (const name of readdirSync('/proc')) {
    const read = /^\d+$/.test(name) ? readProcess(name) : undefined;
    if (read !== undefined) all.set(Number(name), read);
  }
  const descends = (pid: number, root: number): boolean => {
    const parent = all.get(pid)?.parent;
    return parent !== undefined && (parent === root || descends(parent, root));
  };
  return roots.map((root) => {
    const started = [...all].filter(([pid]) => descends(pid, root));
    const startedMs = started.reduce((sum, [, { ms }]) => sum + ms, 0);
    return { ownMs: all.get(root)?.ms ?? 0, startedMs };
  });
};
