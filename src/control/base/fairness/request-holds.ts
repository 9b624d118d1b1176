/**
 * Requests that hold their answer. Each is a connection and some memory of this process while nothing happens, so a
 * project has so many of them at once and no more.
 */
import { quotaError } from './quotas.ts';

export type Holds = {
  /** Counts one until the function that it gives is called; throws `exhausted` when the project holds too many. */
  begin(projectId: string): () => void;
};

/** Makes it; nothing is kept of a project that holds none. */
export const createHolds = (most: number): Holds => {
  const held = new Map<string, number>();
  return {
    begin(projectId) {
      const count = held.get(projectId) ?? 0;
      if (count >= most) throw quotaError({ quota: 'waits', limit: most, retryAfterMs: 1_000 });
      held.set(projectId, count + 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        const left = (held.get(projectId) ?? 1) - 1;
        if (left === 0) held.delete(projectId);
        else held.set(projectId, left);
      };
    },
  };
};
