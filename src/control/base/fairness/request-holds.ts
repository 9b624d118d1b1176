/**
 * Counts held requests (long polls). Each occupies a connection and memory of this process while nothing happens, so
 * the number that a project may have at the same time is limited.
 */
import { quotaError } from './quotas.ts';

export type Holds = {
  /** Counts one held request until the returned function is called. Throws `exhausted` if the project has too many. */
  begin(projectId: string): () => void;
};

/** Creates the counter. A project without held requests takes no memory. */
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
