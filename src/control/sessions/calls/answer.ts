/** Records a host's answer to a call, wakes the client, and returns the host's next directive. */
import { callTransitions } from '#domain/call.ts';
import { AppError } from '#domain/error.ts';
import { isFinal } from '#domain/transitions.ts';
import { firstCallStep } from '#runtime/trace-steps.ts';

import type { CallRow, SessionHost } from '../../db/sessions/calls.ts';
import { cancelQueued } from '../../db/sessions/endings.ts';
import {
  type Answered,
  claimCall,
  findAnswered,
  type NewAnswer,
  type SessionWork,
} from '../../db/sessions/host-calls.ts';
import type { Metrics } from '../../platform/telemetry/counters.ts';
import type { SessionParts } from '../parts.ts';
import { addEffects, applyEffects, endedCalls, noEffects } from '../scheduling/end-sessions.ts';
import { type CallPoll, type Directive, nextDirective, staleHost } from './directive.ts';

/** Throws `conflict` unless this host has already answered the call. */
const checkRepeat = async (
  { db }: SessionParts,
  host: SessionHost,
  callId: string,
): Promise<void> => {
  const found = await findAnswered(db, host, callId);
  if (found?.isCurrent !== true) throw staleHost(host);
  if (found.state === null) {
    throw new AppError('not_found', `${host.sessionId} has no call "${callId}"`);
  }
  if (!isFinal(callTransitions, found.state)) throw staleHost(host);
};

const countAnswer = (metrics: Metrics, call: CallRow): void => {
  const { kind, state, queuedAt, claimedAt, answeredAt } = call;
  metrics.calls.inc({ kind, state });
  if (claimedAt === null || answeredAt === null) return;
  metrics.callQueueSeconds.observe({ kind }, (claimedAt.getTime() - queuedAt.getTime()) / 1_000);
  metrics.callRunSeconds.observe({ kind }, (answeredAt.getTime() - claimedAt.getTime()) / 1_000);
};

/**
 * Traces the first call of a session together with the session's opening, because everything that is prepared lazily is
 * prepared during that call.
 */
const traceFirst = ({ tracer }: SessionParts, call: CallRow): void => {
  const { sessionId, kind, queuedAt, claimedAt, answeredAt } = call;
  if (claimedAt === null || answeredAt === null) return;
  const endedMs = answeredAt.getTime();
  const attributes = { kind };
  tracer.add(sessionId, { name: firstCallStep, beganMs: queuedAt.getTime(), endedMs, attributes });
  const running = { within: firstCallStep, beganMs: claimedAt.getTime(), endedMs };
  tracer.add(sessionId, { name: 'run', program: 'svc-world-host', ...running });
};

/**
 * Sends the notifications that follow an answer. A successful `close` call has started to close the session, so calls
 * that are still queued are cancelled.
 */
const afterAnswer = async (parts: SessionParts, { call, work }: Answered): Promise<void> => {
  const { db, notifications, metrics } = parts;
  notifications.notifyOfCall(call);
  countAnswer(metrics, call);
  if (call.seq === 1) traceFirst(parts, call);
  if (work.state !== 'CLOSING' || call.kind !== 'close') return;
  const cancelled = await db.transaction((tx) =>
    cancelQueued(tx, [call.sessionId], endedCalls('requested').cancelled),
  );
  applyEffects(parts, addEffects(noEffects, [call.sessionId], cancelled));
};

/**
 * Records the answer and returns the host's next directive. A repeated answer changes nothing and returns what a poll
 * would return.
 */
export const answer = (
  parts: SessionParts,
  host: SessionHost,
  given: NewAnswer,
  hold: CallPoll,
): Promise<Directive> => {
  const recordAndLook = async (): Promise<SessionWork | undefined> => {
    const answered = await parts.callWrites.answer({
      host,
      answer: given,
      isStopping: hold.isFinal,
    });
    if (answered === undefined) {
      await checkRepeat(parts, host, given.callId);
      return claimCall(parts.db, host, hold.isFinal);
    }
    await afterAnswer(parts, answered);
    return answered.work;
  };
  return nextDirective(parts, host, hold, recordAndLook);
};
