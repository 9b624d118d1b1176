/**
 * Fair queue between projects for the connections of the database. Requests are served round-robin by project, and no
 * project can occupy all connections. If a project sends many or slow requests, only its own requests wait. Work
 * without a project (of hosts, orchestrators, the program itself) does not wait here; some connections are always left
 * for it.
 *
 * All work that a request starts counts for the request's project. If several requests share work, and the first of
 * them starts it, that work must run in `forNoProject`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { queueFull } from './connection-queue.ts';

/**
 * Project for which the current work counts. Once the first query of the work got a slot (`isAdmitted`), its later
 * queries are not refused, so that the work can run to its end.
 */
type ProjectRequest = { projectId: string; isAdmitted: boolean };

const currentRequest = new AsyncLocalStorage<ProjectRequest | undefined>();

/** Runs work for a project. Queries of the work wait in the queue of the project. */
export const forProject = <Value>(projectId: string, work: () => Value): Value =>
  currentRequest.run({ projectId, isAdmitted: false }, work);

/**
 * Runs work that several requests share, whichever of them started it. Queries of the work do not wait in the queue of
 * any project.
 */
export const forNoProject = <Value>(work: () => Value): Value =>
  currentRequest.run(undefined, work);

export type ProjectQueueLimits = {
  /** Maximum number of units of work that run at the same time. */
  all: number;
  /** Maximum number of units of work of one project that run at the same time. */
  ofProject: number;
  /**
   * Maximum number of units of work of one project that wait, and maximum wait in milliseconds. If one of them is
   * exceeded, work is refused only if its first query has not run yet.
   */
  waiting: number;
  waitMs: number;
};

/** Returns the project for which the current work counts; undefined if there is none. */
export const currentProject = (): string | undefined => currentRequest.getStore()?.projectId;

export type ProjectQueue = {
  /**
   * Runs the work when it is the turn of its project. Throws `exhausted` if too much work of the project waits, or the
   * wait takes too long.
   */
  take<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Returns the number of units of work that wait. */
  waiting(): number;
};

/** Creates an empty queue. */
export const createProjectQueue = (most: ProjectQueueLimits): ProjectQueue => {
  /** Waiting work by project. The project that is served next comes first. */
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

  /**
   * Starts the next waiting work that the limits allow to start. This is called when one unit of work has ended, so at
   * most one can start.
   */
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
      // Another query of the same request has run in the meantime, so this query must not be refused, either.
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
