/** Waits until a session is usable or has ended. */
import { type SessionState, sessionTransitions } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import type { SessionRow } from '../../db/sessions/session-row.ts';
import { findSession, noSession } from '../../db/sessions/sessions.ts';
import { holdWatching, toMs } from '../../platform/notifications/held-requests.ts';
import type { NotifiedValues } from '../../platform/notifications/notifications.ts';
import type { Watch } from '../../platform/notifications/topics.ts';
import type { SessionParts } from '../parts.ts';
import { isUsable } from './view.ts';

export const isOver = (state: SessionState): boolean => isFinal(sessionTransitions, state);
/** Returns true if the outcome of an open is known: all surfaces are ready, or will never be. */
export const isSettled = (session: SessionRow): boolean =>
  isUsable(session) || isOver(session.state) || session.browser?.isGivenUp === true;
/** Returns true if the session is closed or failed. */
export const hasEnded = ({ state }: SessionRow): boolean => isOver(state);

export type SessionWait = {
  projectId: string;
  sessionId: string;
  seconds: number | undefined;
  signal: AbortSignal;
  until(session: SessionRow): boolean;
};

/**
 * Returns the session once `until` returns true for it; when the time is up, returns the session as it is then. A
 * caller that passes a session must have created `watch` before it read the session, so that no notification is missed.
 */
export const awaitWatched = async (
  { db, notifications }: SessionParts,
  watch: Watch<NotifiedValues>,
  known: SessionRow | undefined,
  { projectId, sessionId, seconds, signal, until }: SessionWait,
): Promise<SessionRow> => {
  const read = async (): Promise<SessionRow> => {
    const session = await findSession(db, projectId, sessionId);
    if (session === undefined) throw noSession(sessionId);
    return session;
  };
  let latest = known;
  const look = async (news: NotifiedValues | undefined): Promise<SessionRow | undefined> => {
    const session = latest ?? news?.session ?? (await read());
    latest = undefined;
    return until(session) || !seconds ? session : undefined;
  };
  const found = await holdWatching(notifications, watch, { ms: toMs(seconds), signal, look });
  return found ?? read();
};

/** Waits like `awaitWatched`, for a session that the caller has not read before. */
export const awaitSession = async (parts: SessionParts, wait: SessionWait): Promise<SessionRow> => {
  const watch = parts.notifications.watch(wait.sessionId);
  try {
    return await awaitWatched(parts, watch, undefined, wait);
  } finally {
    watch.end();
  }
};
