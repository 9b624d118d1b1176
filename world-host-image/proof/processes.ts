/**
 * The processes that a session left: found, ended, and reported. Where the host has a table of processes
 * to itself, that is all of this user but the host, those that were there before any code of a world,
 * and the workers of the present. Where it shares the table with the machine, it is what carries the
 * workers' mark in its environment, or stands in a group or session that a worker was the head of; a
 * process that has shed all of these is not found there.
 */
import { pause } from '#runtime/pause.ts';
import type { WorkerProcesses } from '../usercode/runner.ts';
import { environmentOf, listOwnProcesses, type ProcessFacts } from './proc.ts';

export type ProcessWatch = {
  /** Ends all that a session left, and says what there was. `ended`: workers that there were beside the present ones. */
  clean(ended: readonly number[]): Promise<string[]>;
};

export type ProcessWatchParts = {
  /** Whether no process of others is in the table. */
  isOwnTable: boolean;
  /** The folder in which all workers have their temporary folders. */
  workDir: string;
  workers(): WorkerProcesses;
};

/** What is killed with its worker takes a moment to be gone. */
const dyingMs = 200;
/** What starts others as fast as they are killed is given up. */
const killingMs = 1_000;

const describe = ({ pid, name }: ProcessFacts): string => `process ${pid} (${name})`;

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error; // it is gone, or is found again
  }
};

/** Looks until there is none, for so long; the last that there were. */
const lookUntilGone = async (
  find: () => ProcessFacts[],
  ms: number,
  meanwhile: (found: ProcessFacts[]) => void = () => undefined,
): Promise<ProcessFacts[]> => {
  const endsAt = performance.now() + ms;
  for (;;) {
    const found = find();
    if (found.length === 0 || performance.now() > endsAt) return found;
    meanwhile(found);
    await pause(2);
  }
};

/**
 * To be called before any code of a world has run: what is there by then is no session's, but for the
 * workers, in which such code is going to run.
 */
export const watchProcesses = ({
  isOwnTable,
  workDir,
  workers,
}: ProcessWatchParts): ProcessWatch => {
  const first = new Set(workers().live);
  const known = new Set(
    listOwnProcesses()
      .filter(({ pid }) => !first.has(pid))
      .map(({ identity }) => identity),
  );
  const marks = [`TMPDIR=${workDir}/`, `HOME=${workDir}/`];

  const isMarked = ({ pid, group, session }: ProcessFacts, started: Set<number>): boolean =>
    started.has(group) ||
    started.has(session) ||
    environmentOf(pid).some((word) => marks.some((mark) => word.startsWith(mark)));

  const find = (ended: readonly number[]): ProcessFacts[] => {
    const { live, started } = workers();
    const present = new Set([process.pid, ...live]);
    const groups = new Set([...started, ...ended]);
    return listOwnProcesses().filter(
      (found) =>
        !present.has(found.pid) &&
        !known.has(found.identity) &&
        (isOwnTable || isMarked(found, groups)),
    );
  };

  return {
    async clean(ended) {
      const look = (): ProcessFacts[] => find(ended);
      const outlived = await lookUntilGone(look, dyingMs);
      if (outlived.length === 0) return [];
      const left = await lookUntilGone(look, killingMs, (found) => {
        for (const { pid } of found) kill(pid);
      });
      return [
        ...outlived.map((found) => `${describe(found)} had outlived its worker`),
        ...left.map((found) => `${describe(found)} does not end`),
      ];
    },
  };
};
