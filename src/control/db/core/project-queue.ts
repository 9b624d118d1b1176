/**
 * Fair queue between projects for the connections of the database. Requests of projects are served round-robin by
 * project, and no project can hold all connections. If a project sends many requests, or slow ones, only its own
 * requests wait. Work without a project (hosts, orchestrators, the program itself) does not wait here, and always has
 * some connections that no project can take.
 *
 * All work that a request starts counts for its project. Work that many requests share, and that the first of them
 * happens to start, must run in `forNoProject`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { queueFull } from './connection-queue.ts';

/**
 * Project that the current work counts for. Once its first query got a slot (`isAdmitted`), no later one of it is
 * refused, so that it runs to its end.
 */
type ProjectRequest = { projectId: string; isAdmitted: boolean };

const currentRequest = new AsyncLocalStorage<ProjectRequest | undefined>();

/** Runs work for a project: its queries wait in the queue of that project. */
export const forProject = <Value>(projectId: string, work: () => Value): Value =>
  currentRequest.run({ projectId, isAdmitted: false }, work);

/**
 * Runs work that several requests share, whichever of them started it. Its queries do not wait in the queue of any
 * project.
 */
export const forNoProject = <Value>(work: () => Value): Value =>
  currentRequest.run(undefined, work);

export type ProjectQueueLimits = {
  /** Largest number that runs at once. */
  all: number;
  /** Largest number that runs at once for one project. */
  ofProject: number;
  /**
   * Largest number that waits for one project, and the longest wait in milliseconds. Work is refused by these limits
   * only before its first query has run.
   */
  waiting: number;
  waitMs: number;
};

/** Returns the project that the current work counts for; undefined if there is none. */
export const currentProject = (): string | undefined => currentRequest.getStore()?.projectId;

export type ProjectQueue = {
  /**
   * Runs the work when its project is next. Throws `exhausted` when too many wait for that project, or for too long.
   */
  take<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Returns the number of waiters. */
  waiting(): number;
};

/** Creates an empty queue. */
export const createProjectQueue = (most: ProjectQueueLimits): ProjectQueue => {
  /** Waiters by project; the project that is served next comes first. */
  const waiting = new Map<string, (() => void)[]>();
  const running = new Map<string, number>();
  let underWay = 0;

  const mayBegin = (projectId: string): boolean =>
    underWay < most.all && (running.get(projectId) ?? 0) < most.ofProject;

  const begin = (projectId: string): void => {
    underWay += 1;
    running.set(projectId, (running.get(projectId) ?? 0) + 1);
  };

  const end = (projectId: string): void => {
    underWay -= 1;
    const left = (running.get(projectId) ?? 1) - 1;
    if (left === 0) running.delete(projectId);
    else running.set(projectId, left);
  };

  /** Starts the next waiter that its limits let start. One has ended, so at most one can start. */
  const startNext = (): void => {
    for (const [projectId, queue] of waiting) {
      if (!mayBegin(projectId)) continue;
      const start = queue.shift();
      waiting.delete(projectId);
      if (queue.length > 0) waiting.set(projectId, queue);
      begin(projectId);
      start?.();
      return;
    }
  };

  const leave = (projectId: string, start: () => void): void => {
    const left = waiting.get(projectId)?.filter((one) => one !== start) ?? [];
    if (left.length > 0) waiting.set(projectId, left);
    else waiting.delete(projectId);
  };

  const arrive = (asked: ProjectRequest): Promise<void> | undefined => {
    const { projectId, isAdmitted } = asked;
    if (mayBegin(projectId)) {
      begin(projectId);
      return undefined;
    }
    const queue = waiting.get(projectId);
    if (!isAdmitted && queue !== undefined && queue.length >= most.waiting) throw queueFull();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const giveUp = (): void => {
      // Another query of the same request has run meanwhile, so this one is not refused either.
      if (asked.isAdmitted) return;
      leave(projectId, start);
      reject(queueFull());
    };
    const timer = isAdmitted ? undefined : setTimeout(giveUp, most.waitMs);
    if (queue === undefined) waiting.set(projectId, [start]);
    else queue.push(start);
    return promise;
  };

  return {
    waiting: () => [...waiting.values()].reduce((sum, queue) => sum + queue.length, 0),
    async take(work) {
      const asked = currentRequest.getStore();
      if (asked === undefined) return work();
      const turn = arrive(asked);
      if (turn !== undefined) await turn;
      asked.isAdmitted = true;
      try {
        // Queries that the work itself makes run in this slot.
        return await forNoProject(work);
      } finally {
        end(asked.projectId);
        startNext();
      }
    },
  };
};
