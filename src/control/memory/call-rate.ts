/**
 * How many calls a project makes in a minute. A control plane takes some of them ahead from the database,
 * which gives no more than the quota in all, and spends them without asking again: a call costs no further
 * statement, and no row is written by all calls of a project.
 */
import type { Queryable } from '../db/database.ts';
import { takeCalls } from '../db/quotas.ts';
import { quotaError } from '../shares/quotas.ts';

/** What is left of a project's calls until this process's clock reads `endsAt`. */
type Purse = { granted: number; left: number; most: number; endsAt: number };

export type CallRate = {
  /** Spends one of the project's calls; throws `exhausted` when there is none in this minute. */
  spend(projectId: string): Promise<void>;
};

/** Purses beyond which those of past minutes are thrown away. */
const mostPurses = 1_000;

/** Makes it; `usual` is the quota of projects that have none of their own. */
export const createCallRate = (
  db: Queryable,
  usual: number,
  now: () => number = () => performance.now(),
): CallRate => {
  const purses = new Map<string, Purse>();
  const taking = new Map<string, Promise<Purse>>();

  const forgetPast = (): void => {
    if (purses.size < mostPurses) return;
    for (const [projectId, { endsAt }] of purses) if (endsAt <= now()) purses.delete(projectId);
  };

  const take = async (projectId: string): Promise<Purse> => {
    const { granted, most, leftMs } = await takeCalls(db, projectId, usual);
    forgetPast();
    const purse = { granted, left: granted, most, endsAt: now() + leftMs };
    purses.set(projectId, purse);
    return purse;
  };

  /** One at a time for each project: who comes meanwhile shares what it brings. */
  const takeOnce = (projectId: string): Promise<Purse> => {
    const underWay = taking.get(projectId);
    if (underWay !== undefined) return underWay;
    const begun = take(projectId).finally(() => taking.delete(projectId));
    taking.set(projectId, begun);
    return begun;
  };

  return {
    async spend(projectId) {
      let purse = purses.get(projectId);
      // What the database refused is refused until the minute is over, without asking it again.
      while (
        purse === undefined ||
        purse.endsAt <= now() ||
        (purse.left === 0 && purse.granted > 0)
      ) {
        purse = await takeOnce(projectId);
      }
      if (purse.left > 0) {
        purse.left -= 1;
        return;
      }
      const retryAfterMs = Math.max(1, Math.ceil(purse.endsAt - now()));
      throw quotaError({ quota: 'calls_per_minute', limit: purse.most, retryAfterMs });
    },
  };
};
