/**
 * Finds, ends and reports the processes that a session left. If the host has its own process table, these are all
 * processes of this user, with three exceptions: the host, the current workers, and processes that existed before any
 * code of a world ran. If the host shares the process table with the machine, they are processes of two kinds: those
 * whose `TMPDIR` or `HOME` is inside the host's work folder, as for workers, and those in a process group or session
 * that a worker led. A process without any of these traces is not found in a shared table.
 */
import { pause } from '#runtime/pause.ts';
import type { WorkerProcesses } from '../usercode/runner.ts';
import { environmentOf, listOwnProcesses, type ProcessFacts } from './proc.ts';

export type ProcessWatch = {
  /**
   * Ends all processes that a session left, and describes them. `ended` are the ids of former workers, which no longer
   * run.
   */
  clean(ended: readonly number[]): Promise<string[]>;
};

export type ProcessWatchParts = {
  /** True if the process table contains no other program's processes. */
  isOwnTable: boolean;
  /** Folder that contains the temporary folders of all workers. */
  workDir: string;
  workers(): WorkerProcesses;
};

/** Maximum time in milliseconds that a process killed together with its worker needs to disappear. */
const dyingMs = 200;
/** Time in milliseconds after which the host stops killing, for example if processes start new ones just as fast. */
const killingMs = 1_000;

const describe = ({ pid, name }: ProcessFacts): string => `process ${pid} (${name})`;

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error; // it has ended, or the next search finds it again
  }
};

/** Polls until no process is found, for at most `ms` milliseconds; returns the processes found last. */
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
 * Starts the watch. Call it before any code of a world has run. Processes that exist by then belong to no session,
 * except for the workers, because code of worlds will run in them.
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
