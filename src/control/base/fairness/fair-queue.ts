/**
 * Fair queue of jobs that projects share. The projects take turns, and a project that runs its maximum number of jobs
 * is skipped. So a project waits only for running jobs of other projects, never for their queued jobs. The length of
 * the queue is limited. If the queue is full and a project with few queued jobs adds one, the last job of the project
 * with most queued jobs is dropped.
 */

export type QueueLimits = {
  /** Maximum number of queued jobs: of all projects, and of one project. */
  queued: number;
  queuedOfProject: number;
  /** Maximum number of running jobs of one project. */
  runningOfProject: number;
};

export type FairQueue<Entry> = {
  /**
   * Queues an entry. Returns `full` if the project may queue no more entries, or `displaced` with the entry that was
   * dropped to make a slot free.
   */
  add(
    project: string,
    entry: Entry,
  ): { kind: 'added' } | { kind: 'full' } | { kind: 'displaced'; entry: Entry };
  /**
   * Counts a job of the project as running, if the job may start without queueing. Returns false if it must be queued.
   */
  begin(project: string): boolean;
  /** Returns the next entry and counts it as running; undefined if no entry may start. */
  next(): Entry | undefined;
  /** Counts one running job of the project as ended. */
  end(project: string): void;
  /** Removes a queued entry. Returns false if the entry is not queued. */
  remove(project: string, entry: Entry): boolean;
  /** Returns the number of queued entries; of one project if it is given, otherwise of all. */
  size(project?: string): number;
  /** Removes and returns all queued entries. */
  clear(): Entry[];
};

/** Creates an empty queue. */
export const createFairQueue = <Entry>(limits: QueueLimits): FairQueue<Entry> => {
  /** Queued entries by project, in the order of turns: after its turn, a project moves to the end. */
  const waiting = new Map<string, Entry[]>();
  const running = new Map<string, number>();
  let total = 0;

  const sizeOf = (project: string): number => waiting.get(project)?.length ?? 0;
  const mayRun = (project: string): boolean =>
    (running.get(project) ?? 0) < limits.runningOfProject;
  const nextProject = (): string | undefined => [...waiting.keys()].find(mayRun);

  const put = (project: string, entry: Entry): void => {
    const queue = waiting.get(project) ?? [];
    waiting.set(project, queue);
    queue.push(entry);
    total += 1;
  };

  const take = (project: string, position: number): Entry | undefined => {
    const queue = waiting.get(project) ?? [];
    const [entry] = queue.splice(position, 1);
    if (entry !== undefined) total -= 1;
    if (queue.length === 0) waiting.delete(project);
    return entry;
  };

  const begin = (project: string): void => {
    running.set(project, (running.get(project) ?? 0) + 1);
  };

  const longest = (): string =>
    [...waiting.keys()].reduce(
      (most, project) => (sizeOf(project) > sizeOf(most) ? project : most),
      '',
    );

  return {
    add(project, entry) {
      if (sizeOf(project) >= limits.queuedOfProject) return { kind: 'full' };
      if (total < limits.queued) {
        put(project, entry);
        return { kind: 'added' };
      }
      const other = longest();
      if (sizeOf(other) <= sizeOf(project) + 1) return { kind: 'full' };
      const displaced = take(other, sizeOf(other) - 1);
      put(project, entry);
      return displaced === undefined ? { kind: 'added' } : { kind: 'displaced', entry: displaced };
    },
    begin(project) {
      if (sizeOf(project) > 0 || !mayRun(project)) return false;
      begin(project);
      return true;
    },
    next() {
      const project = nextProject();
      if (project === undefined) return undefined;
      const entry = take(project, 0);
      const rest = waiting.get(project);
      if (rest !== undefined) {
        waiting.delete(project);
        waiting.set(project, rest);
      }
      begin(project);
      return entry;
    },
    end(project) {
      const left = (running.get(project) ?? 0) - 1;
      if (left > 0) running.set(project, left);
      else running.delete(project);
    },
    remove(project, entry) {
      const position = (waiting.get(project) ?? []).indexOf(entry);
      return position !== -1 && take(project, position) !== undefined;
    },
    size: (project) => (project === undefined ? total : sizeOf(project)),
    clear() {
      const all = [...waiting.values()].flat();
      waiting.clear();
      total = 0;
      return all;
    },
  };
};
