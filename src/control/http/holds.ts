/**
 * Requests that hold their answer (`?wait=`). Each is a connection and some memory of this process while
 * nothing happens, so a project has so many of them at once and no more.
 */
import { quotaError } from '../shares/quotas.ts';

export type Holds = {
  /** Does work that may hold its answer; throws `exhausted` when the project holds too many. */
  hold<Value>(projectId: string, work: () => Promise<Value>): Promise<Value>;
};

/** Makes it; nothing is counted of a project that holds none. */
export const createHolds = (most: number): Holds => {
  const held = new Map<string, number>();
  return {
    async hold(projectId, work) {
      const count = held.get(projectId) ?? 0;
      if (count >= most) throw quotaError({ quota: 'waits', limit: most, retryAfterMs: 1_000 });
      held.set(projectId, count + 1);
      try {
        return await work();
      } finally {
        const left = (held.get(projectId) ?? 1) - 1;
        if (left === 0) held.delete(projectId);
        else held.set(projectId, left);
      }
    },
  };
};
