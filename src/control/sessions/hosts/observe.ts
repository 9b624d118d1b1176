/**
 * The pool as its planner sees it, or its revision alone, which costs a tenth of the time. Who waits for
 * a change is told from the revision, so the view is read once however often the pool was looked at.
 */
import type { PoolView } from '#wire/pool-api/operations.ts';
import { readPool, readRevision } from '../../db/sessions/pool-view.ts';
import { holdUntil } from '../../platform/notifications/held-requests.ts';
import { poolTopic } from '../../platform/notifications/notifications.ts';
import type { SessionParts } from '../parts.ts';

export type PoolQuestion = {
  installation: string;
  /** The revision that the asker has already; without it there is nothing to wait for. */
  after: string | undefined;
  holdMs: number;
  signal: AbortSignal;
  /** Whether the revision is all that is asked for. */
  isBrief: boolean;
};

/** Answers once the view differs from `after`, or with the same one when the time is over. */
export const observe = async (
  { db, notifications }: SessionParts,
  { installation, after, holdMs, signal, isBrief }: PoolQuestion,
): Promise<PoolView> => {
  const look = async (): Promise<string | undefined> => {
    const revision = await readRevision(db, installation);
    return revision === after ? undefined : revision;
  };
  const waits = isBrief || after !== undefined;
  const changed = waits
    ? await holdUntil(notifications, { topic: poolTopic, ms: holdMs, signal, look })
    : undefined;
  if (!isBrief) return readPool(db, installation);
  return { revision: changed ?? after ?? '', hosts: [], waiting: [], worlds: [] };
};
