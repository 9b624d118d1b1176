/**
 * Fair queue of jobs, shared by projects. The projects take turns, and a project at its concurrency limit is skipped.
 * So a project waits only for jobs of other projects that are running, never for those that are queued.
 *
 * The queue is bounded. If it is full, a project with fewer queued jobs displaces the last job of the project with
 * most.
 */

export type QueueLimits = {
  /** Maximum number of queued jobs, of all projects and of one. */
  queued: number;
  queuedOfProject: number;
  /** Maximum number of running jobs of one project. */
  runningOfProject: number;
};

export type FairQueue<Entry> = {
  /**
   * Queues an entry. Returns `full` if the project may queue no more, `displaced` with the entry that lost its slot to
   * it.
   */
  add(
    project: string,
    entry: Entry,
  ): { kind: 'added' } | { kind: 'full' } | { kind: 'displaced'; entry: Entry };
  /** Counts a job of the project as running if it may start without queueing; returns false if it must queue. */
  begin(project: string): boolean;
  /** Returns the next entry and counts it as running; undefined if none may start. */
  next(): Entry | undefined;
  /** Counts one running job of the project as ended. */
  end(project: string): void;
  /** Removes a queued entry; returns false if it is not queued. */
  remove(project: string, entry: Entry): boolean;
  /** Returns the number of queued entries, of all projects or of one. */
  size(project?: string): number;
  /** Removes and returns all queued entries. */
  clear(): Entry[];
};

/** Creates an empty queue. */
export const createFairQueue = <Entry>(limits: QueueLimits): FairQueue<Entry> => {
  /** Ordered by turn: a project moves to the end after its turn. */
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
