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

const asking = new AsyncLocalStorage<string | undefined>();

/** Does work that asks for a project: what it asks of the database takes turns with other projects. */
export const forProject = <Value>(projectId: string, work: () => Value): Value =>
  asking.run(projectId, work);

/** Does work that is shared by all, whoever started it: it waits for no project's turn. */
export const forNoProject = <Value>(work: () => Value): Value => asking.run(undefined, work);

export type TurnLimits = {
  /** How many are under way at once. */
  all: number;
  /** How many of them are for one project. */
  ofProject: number;
};

/** The project that is asked for just now; undefined for none. */
export const projectAsking = (): string | undefined => asking.getStore();

export type Turns = {
  /** Does the work when the turn of the project that it is for has come. */
  take<Value>(work: () => Promise<Value>): Promise<Value>;
};

/** Makes turns. */
export const createTurns = (most: TurnLimits): Turns => {
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

  const arrive = (projectId: string): Promise<void> | undefined => {
    if (mayBegin(projectId)) {
      begin(projectId);
      return undefined;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const queue = waiting.get(projectId);
    if (queue === undefined) waiting.set(projectId, [resolve]);
    else queue.push(resolve);
    return promise;
  };

  return {
    async take(work) {
      const projectId = asking.getStore();
      if (projectId === undefined) return work();
      const turn = arrive(projectId);
      if (turn !== undefined) await turn;
      try {
        // What the work itself asks for is part of its turn.
        return await forNoProject(work);
      } finally {
        end(projectId);
        startNext();
      }
    },
  };
};
