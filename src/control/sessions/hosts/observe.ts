/**
 * Returns the view of a pool for the planner, or only the view's revision, which takes a tenth of the time. While a
 * request waits, only the revision is read again and again; the view itself is read once.
 */
import type { PoolView } from '#wire/pool-api/operations.ts';
import { readPool, readRevision } from '../../db/sessions/pool-view.ts';
import { holdUntil } from '../../platform/notifications/held-requests.ts';
import { poolTopic } from '../../platform/notifications/notifications.ts';
import type { SessionParts } from '../parts.ts';

export type PoolQuestion = {
  installation: string;
  /** Revision that the planner already has. If it is undefined, the request does not wait. */
  after: string | undefined;
  holdMs: number;
  signal: AbortSignal;
  /** True if only the revision is requested, without the view. */
  isBrief: boolean;
};

/**
 * Returns the view once its revision differs from `after`; when the time is up, returns it with an unchanged revision.
 */
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
