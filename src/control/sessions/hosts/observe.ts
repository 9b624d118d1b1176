/**
 * Returns the view of the pool for its planner, or only its revision, which costs a tenth of the time. Waiting uses
 * the revision, so the view is read once however often the pool is checked.
 */
import type { PoolView } from '#wire/pool-api/operations.ts';
import { readPool, readRevision } from '../../db/sessions/pool-view.ts';
import { holdUntil } from '../../platform/notifications/held-requests.ts';
import { poolTopic } from '../../platform/notifications/notifications.ts';
import type { SessionParts } from '../parts.ts';

export type PoolQuestion = {
  installation: string;
  /** Revision that the planner already has; without it there is no wait. */
  after: string | undefined;
  holdMs: number;
  signal: AbortSignal;
  /** True if only the revision is requested. */
  isBrief: boolean;
};

/** Answers once the revision differs from `after`, or with the same one when the time is up. */
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
