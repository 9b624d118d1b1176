/**
 * Who uses the database's connections next. Requests of projects take turns, project by project, and no
 * project has all of them: one that asks for much at once, or for what takes long, waits for itself. What
 * is asked for no project (hosts, orchestrators, the program itself) does not wait here, and always has
 * some connections that no project can take.
 *
 * Whatever a request starts asks for its project, too. Work that many requests share, which the first of
 * them happens to start, is to be done by `forNoProject`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { tooManyWait } from './connection-queue.ts';

/** Whom work asks for. Once it had a turn, no further one is refused it: it is done to its end. */
type Asking = { projectId: string; isAdmitted: boolean };

const asking = new AsyncLocalStorage<Asking | undefined>();

/** Does work that asks for a project: what it asks of the database takes turns with other projects. */
export const forProject = <Value>(projectId: string, work: () => Value): Value =>
  asking.run({ projectId, isAdmitted: false }, work);

/** Does work that is shared by all, whoever started it: it waits for no project's turn. */
export const forNoProject = <Value>(work: () => Value): Value => asking.run(undefined, work);

export type ProjectQueueLimits = {
  /** How many are under way at once. */
  all: number;
  /** How many of them are for one project. */
  ofProject: number;
  /** How many may wait for one project, and how long; work is refused by that before it has begun only. */
  waiting: number;
  waitMs: number;
};

/** The project that is asked for just now; undefined for none. */
export const projectAsking = (): string | undefined => asking.getStore()?.projectId;

export type ProjectQueue = {
  /** Does the work when the turn of the project that it is for has come; `exhausted` when too many wait. */
  take<Value>(work: () => Promise<Value>): Promise<Value>;
  /** How many wait. */
  waiting(): number;
};

/** Makes turns. */
export const createProjectQueue = (most: ProjectQueueLimits): ProjectQueue => {
  /** Who waits, by project; the project whose turn is next comes first. */
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

  /** Starts one; as one has ended, no more than one can. */
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

  const arrive = (asked: Asking): Promise<void> | undefined => {
    const { projectId, isAdmitted } = asked;
    if (mayBegin(projectId)) {
      begin(projectId);
      return undefined;
    }
    const queue = waiting.get(projectId);
    if (!isAdmitted && queue !== undefined && queue.length >= most.waiting) throw tooManyWait();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const giveUp = (): void => {
      // Other work of the same request has begun meanwhile, so this is done, too.
      if (asked.isAdmitted) return;
      leave(projectId, start);
      reject(tooManyWait());
    };
    const timer = isAdmitted ? undefined : setTimeout(giveUp, most.waitMs);
    if (queue === undefined) waiting.set(projectId, [start]);
    else queue.push(start);
    return promise;
  };

  return {
    waiting: () => [...waiting.values()].reduce((sum, queue) => sum + queue.length, 0),
    async take(work) {
      const asked = asking.getStore();
      if (asked === undefined) return work();
      const turn = arrive(asked);
      if (turn !== undefined) await turn;
      asked.isAdmitted = true;
      try {
        // What the work itself asks for is part of its turn.
        return await forNoProject(work);
      } finally {
        end(asked.projectId);
        startNext();
      }
    },
  };
};
