/**
 * How sessions end. Whoever ends one locks it, then its calls, then its host, in one transaction, and
 * tells about it when that is done.
 */
import type { CallError } from '#domain/call.ts';
import type { HostEnd } from '#domain/host.ts';
import type { EndReason } from '#domain/session.ts';
import {
  type Ending,
  endCalls,
  finishSession,
  type LockedSession,
  releaseHost,
} from '../db/endings.ts';
import type { Queryable } from '../db/pool.ts';
import { type Notices, poolTopic, routeTopic } from '../notify.ts';

/** What the open calls of a session that ended are told. */
export const endedCalls = (reason: EndReason): { cancelled: CallError; lost: CallError } => ({
  cancelled: {
    code: 'session_ended',
    message: `the session ended (${reason}) before a host took the call`,
    details: { reason },
  },
  lost: {
    code: reason === 'requested' ? 'session_ended' : reason,
    message: `the session ended (${reason}) while its host had the call; whether it ran is not known`,
    details: { reason },
  },
});

/** Whom to tell once the transaction is committed. */
export type News = string[];

export const tellNews = (notices: Notices, news: News): void => {
  if (news.length === 0) return;
  const routes = news.filter((id) => id.startsWith('ses-')).map(routeTopic);
  notices.tell(...new Set([...news, ...routes, poolTopic]));
};

/** Ends a locked session and its open calls. */
export const endSession = async (
  tx: Queryable,
  session: LockedSession,
  ending: Ending,
): Promise<News> => {
  await finishSession(tx, session.id, ending);
  const calls = await endCalls(tx, session.id, endedCalls(ending.reason));
  return [session.id, ...calls];
};

/** Ends a locked session and drains the host that it is with. */
export const endWithHost = async (
  tx: Queryable,
  session: LockedSession,
  ending: Ending,
  host: { reason: HostEnd; detail: string | null },
): Promise<News> => {
  const news = await endSession(tx, session, ending);
  if (session.hostId === null) return news;
  await releaseHost(tx, { hostId: session.hostId, to: 'draining', ...host });
  return [...news, session.hostId];
};
