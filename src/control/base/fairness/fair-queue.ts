/**
 * Jobs that wait, shared out between the projects that they are for. The projects take turns, and one
 * that is doing all that it may is passed over; so a project waits for the jobs of others that are under
 * way, never for those that they have waiting.
 *
 * The queue is bounded. When it is full, a project with fewer jobs waiting takes the place of the last
 * job of the one with most, which is given up.
 */

export type QueueLimits = {
  /** Jobs that wait at once, of all projects and of one of them. */
  queued: number;
  queuedOfProject: number;
  /** Jobs of one project that are under way at once. */
  runningOfProject: number;
};

export type FairQueue<Entry> = {
  /** Adds an entry: `full` when the project's own queue is, else what has to make room for it. */
  add(
    project: string,
    entry: Entry,
  ): { kind: 'added' } | { kind: 'full' } | { kind: 'displaced'; entry: Entry };
  /** Takes note that one of the project's is under way without having waited; false when it has to. */
  begin(project: string): boolean;
  /** The next one to do, which then is under way; undefined when none may be begun. */
  next(): Entry | undefined;
  /** One of the project's that was under way has ended. */
  end(project: string): void;
  /** Takes out one that waits; false when it does not. */
  remove(project: string, entry: Entry): boolean;
  /** Entries that wait, all of them and of one project. */
  size(project?: string): number;
  /** Takes out all that wait. */
  clear(): Entry[];
};

/** Makes an empty queue. */
export const createFairQueue = <Entry>(limits: QueueLimits): FairQueue<Entry> => {
  /** In the order of their turns: a project that had one goes to the end. */
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
