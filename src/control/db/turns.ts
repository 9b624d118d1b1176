/**
 * Who uses the database's connections next. Requests of projects take turns, project by project: one that
 * asks for much at once waits for itself, and delays another by no more than what is under way. What is
 * asked for no project (hosts, orchestrators, the program itself) does not wait here, and always has some
 * connections that no project can take.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const asking = new AsyncLocalStorage<string | undefined>();

/** Does work that asks for a project: what it asks of the database takes turns with other projects. */
export const forProject = <Value>(projectId: string, work: () => Value): Value =>
  asking.run(projectId, work);

export type Turns = {
  /** Does the work when the turn of the project that it is for has come. */
  take<Value>(work: () => Promise<Value>): Promise<Value>;
};

/** Makes turns of which so many are under way at once. */
export const createTurns = (most: number): Turns => {
  /** Who waits, by project; the project whose turn is next comes first. */
  const waiting = new Map<string, (() => void)[]>();
  let underWay = 0;

  const startNext = (): void => {
    const [next] = waiting;
    if (next === undefined || underWay >= most) return;
    const [projectId, queue] = next;
    const start = queue.shift();
    waiting.delete(projectId);
    if (queue.length > 0) waiting.set(projectId, queue);
    underWay += 1;
    start?.();
  };

  const arrive = (projectId: string): Promise<void> | undefined => {
    if (underWay < most) {
      underWay += 1;
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
        return await asking.run(undefined, work);
      } finally {
        underWay -= 1;
        startNext();
      }
    },
  };
};
