/** Limits the number of calls of a project per minute. Tokens are reserved in advance, see `token-buckets.ts`. */

import { quotaError } from '../../base/fairness/quotas.ts';
import type { Queryable } from '../../db/core/database.ts';
import { takeCalls } from '../../db/projects/quotas.ts';
import { createTokenBuckets } from './token-buckets.ts';

export type CallRate = {
  /** Spends one token for a call of the project. Throws `exhausted` if no token is left in this minute. */
  spend(projectId: string): Promise<void>;
};

/** Creates the limit. `usual` is the quota of projects that have no quota of their own. */
export const createCallRate = (
  db: Queryable,
  usual: number,
  now: () => number = () => performance.now(),
): CallRate => {
  const buckets = createTokenBuckets(
    async (projectId, most) => ({ ...(await takeCalls(db, projectId, most)), untaken: 0 }),
    now,
  );
  return {
    async spend(projectId) {
      const {
        isSpent,
        most: limit,
        endsInMs: retryAfterMs,
      } = await buckets.spend(projectId, usual);
      if (!isSpent) throw quotaError({ quota: 'calls_per_minute', limit, retryAfterMs });
    },
  };
};
