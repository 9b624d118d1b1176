/**
 * Ends sessions. One transaction locks the session, then its calls, then its host. Notifications are sent after the
 * commit.
 */
import type { CallError } from '#domain/call.ts';
import type { HostEnd } from '#domain/host.ts';
import type { EndReason } from '#domain/session.ts';
import type { Log } from '#runtime/log.ts';
import type { Queryable } from '../../db/core/database.ts';
import type { SessionError } from '../../db/sessions/ended-session.ts';
import {
  type EndedCall,
  type Ending,
  endCalls,
  finishSession,
  type LockedSession,
  releaseHost,
} from '../../db/sessions/endings.ts';
import {
  type Notifications,
  poolTopic,
  routeTopic,
} from '../../platform/notifications/notifications.ts';
import type { Metrics } from '../../platform/telemetry/counters.ts';

/** Returns the errors for the open calls of a session that ended. Each contains the end reason of the session. */
export const endedCalls = (
  reason: EndReason,
  error: SessionError | null = null,
): { cancelled: CallError; lost: CallError } => {
  const ended = error === null ? reason : `${reason}: ${error.message}`;
  const details = error === null ? { reason } : { reason, sessionError: error };
  return {
    cancelled: {
      code: 'session_ended',
      message: `the session ended (${ended}) before a host took the call; the call was not run`,
      details,
    },
    lost: {
      code: reason === 'requested' ? 'session_ended' : reason,
      message: `the session ended (${ended}) while its host had the call; whether the call ran is not known`,
      details,
    },
  };
};

export type SessionEnd = { sessionId: string; hostId: string | null; reason: EndReason };

/** Notifications and metrics to send after the commit. */
export type Effects = {
  /** Ids of the objects that changed. */
  topics: readonly string[];
  /** Sessions that ended, each with the calls that ended with it. */
  ends: readonly SessionEnd[];
  calls: readonly EndedCall[];
};

export const noEffects: Effects = { topics: [], ends: [], calls: [] };

/** Adds topics and ended calls to the effects. */
export const addEffects = (
  effects: Effects,
  topics: readonly string[],
  calls: readonly EndedCall[] = [],
): Effects => ({
  topics: [...effects.topics, ...topics, ...calls.map(({ id }) => id)],
  ends: effects.ends,
  calls: [...effects.calls, ...calls],
});

export const applyEffects = (
  { log, notifications, metrics }: { log: Log; metrics: Metrics; notifications: Notifications },
  { topics, ends, calls }: Effects,
): void => {
  for (const end of ends) {
    metrics.ends.inc({ reason: end.reason });
    log.info(end, 'session ended');
  }
  for (const { kind, state } of calls) metrics.calls.inc({ kind, state });
  if (topics.length === 0) return;
  const routes = topics.filter((id) => id.startsWith('ses-')).map(routeTopic);
  notifications.notify(...new Set([...topics, ...routes, poolTopic]));
};

/** Ends a locked session and its open calls. */
export const endSession = async (
  tx: Queryable,
  session: LockedSession,
  ending: Ending,
): Promise<Effects> => {
  const reason = await finishSession(tx, session.id, ending);
  const end = { sessionId: session.id, hostId: session.hostId };
  const effects = { ...noEffects, ends: reason === undefined ? [] : [{ ...end, reason }] };
  if (session.openCalls === 0) return addEffects(effects, [session.id]);
  const errors = endedCalls(reason ?? ending.reason, ending.error);
  const calls = await endCalls(tx, session.id, errors);
  return addEffects(effects, [session.id], calls);
};

/** Ends a locked session and drains the session's host. */
export const endWithHost = async (
  tx: Queryable,
  session: LockedSession,
  ending: Ending,
  host: { reason: HostEnd; detail: string | null },
): Promise<Effects> => {
  const effects = await endSession(tx, session, ending);
  if (session.hostId === null) return effects;
  await releaseHost(tx, { hostId: session.hostId, to: 'draining', ...host });
  return addEffects(effects, [session.hostId]);
};
