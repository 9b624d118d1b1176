/** Closes a session at its owner's wish. One that no host has is closed at once. */
import { sessionTransitions } from '#domain/session.ts';
import { can } from '#domain/transitions.ts';
import type { Queryable } from '../db/database.ts';
import {
  beginClosing,
  cancelQueued,
  closeIdle,
  type LockedSession,
  lockOwnSession,
} from '../db/endings.ts';
import { noSession } from '../db/sessions.ts';
import { addNews, endedCalls, endSession, type News, noNews, tellNews } from '../lifecycle/end.ts';
import type { Parts } from '../parts.ts';

const closeLocked = async (
  tx: Queryable,
  session: LockedSession,
  keepWarm: boolean,
): Promise<News> => {
  if (!can(sessionTransitions, session.state, 'CLOSING')) return noNews;
  if (session.hostId === null) {
    return endSession(tx, session, { to: 'CLOSED', reason: 'requested', error: null });
  }
  await beginClosing(tx, session.id, 'requested', keepWarm);
  const cancelled = await cancelQueued(tx, [session.id], endedCalls('requested').cancelled);
  return addNews(noNews, [session.id], cancelled);
};

/**
 * Begins to close a session, or closes it. Closing one again changes nothing. Throws `not_found` when
 * the project has none of this id.
 */
export const close = async (
  parts: Parts,
  projectId: string,
  sessionId: string,
  keepWarm: boolean,
): Promise<void> => {
  if (await closeIdle(parts.db, projectId, sessionId, keepWarm)) {
    return tellNews(parts, addNews(noNews, [sessionId]));
  }
  const news = await parts.db.transaction(async (tx) => {
    const session = await lockOwnSession(tx, projectId, sessionId);
    if (session === undefined) throw noSession(sessionId);
    return closeLocked(tx, session, keepWarm);
  });
  tellNews(parts, news);
};
