/** Handles the reports of a host that has loaded its session, or cannot load it. */

import { sessionTransitions } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import { wholeStep } from '#runtime/trace-steps.ts';
import type { SessionDirective } from '#wire/host-api/operations.ts';
import type { SessionHost } from '../../db/sessions/calls.ts';
import { lockSession } from '../../db/sessions/endings.ts';
import { claimCall, type SessionWork } from '../../db/sessions/host-calls.ts';
import { makeReady, type Readied } from '../../db/sessions/ready.ts';
import { routeTopic } from '../../platform/notifications/notifications.ts';
import { type CallPoll, nextDirective, staleHost } from '../calls/directive.ts';
import type { SessionParts } from '../parts.ts';
import { applyEffects, endWithHost, noEffects } from '../scheduling/end-sessions.ts';

/** Step of loading, as the host reports it: how long ago it ended and how long it took, in milliseconds. */
export type HostStep = { name: string; agoMs: number; tookMs: number };

const traceReady = (
  { tracer }: SessionParts,
  sessionId: string,
  { start, openedMs, claimedMs }: Omit<Readied, 'session' | 'openCalls'>,
  steps: readonly HostStep[],
): void => {
  const nowMs = Date.now();
  const until = (beganMs: number) => ({ beganMs, endedMs: nowMs });
  tracer.add(sessionId, { name: wholeStep, ...until(nowMs - openedMs), attributes: { start } });
  tracer.add(sessionId, { name: 'prepare', ...until(nowMs - claimedMs) });
  for (const { name, agoMs, tookMs } of steps) {
    const endedMs = nowMs - agoMs;
    const times = { beganMs: endedMs - tookMs, endedMs };
    tracer.add(sessionId, { name, within: 'prepare', program: 'svc-world-host', ...times });
  }
};

/** Work of a session that became ready before any call was queued. */
const nothingYet: SessionWork = { state: 'READY', keepWarm: false, call: undefined };

/** Sends the notifications, the log entry and the metrics for a session that became ready. */
const announceReady = (
  parts: SessionParts,
  host: SessionHost,
  readied: Readied,
  steps: readonly HostStep[],
): void => {
  const { session, start, openedMs, claimedMs } = readied;
  const { sessionId, hostId } = host;
  parts.log.info({ sessionId, hostId, start, openedMs }, 'session ready');
  parts.metrics.readySeconds.observe({ start }, openedMs / 1_000);
  parts.metrics.loadSeconds.observe({ start }, claimedMs / 1_000);
  traceReady(parts, sessionId, readied, steps);
  const work = readied.openCalls === 0 ? { work: { ...host, ...nothingYet } } : {};
  parts.notifications.notifyOfSession({ session, ...work }, routeTopic(sessionId));
  // The browser of the session can get its assignment from now on.
  if (session.browser?.hostId != null) parts.notifications.notify(session.browser.hostId);
};

export type ReadyReport = {
  /**
   * Bundle that the host has loaded, and the digest of its state. A host without a digest (null) cannot prove that it
   * is clean and is not recycled.
   */
  holding: { bundle: string; stateDigest: string | null };
  steps: readonly HostStep[];
  hold: CallPoll;
};

/**
 * Makes the session ready and returns the first directive; the request is held until there is one. A repeated report
 * changes nothing. If the reported bundle is not that of the session's version, the report is refused like a report of
 * a host that does not serve the session.
 */
export const reportReady = async (
  parts: SessionParts,
  host: SessionHost,
  { holding, steps, hold }: ReadyReport,
): Promise<SessionDirective> =>
  nextDirective(parts, host, hold, async () => {
    const readied = await makeReady(parts.db, host, holding);
    if (readied !== undefined) {
      announceReady(parts, host, readied, steps);
      if (readied.openCalls === 0) return nothingYet;
    }
    const work = await claimCall(parts.db, host, false);
    if (work?.state === 'PROVISIONING') throw staleHost(host);
    return work;
  });

export type LoadFailure = { code: string; message: string };

/**
 * Handles the report that a host cannot load its session: the session fails with the reported error, and the host is
 * drained. Changes nothing if the session has already ended.
 */
export const reportFailed = async (
  parts: SessionParts,
  { sessionId, hostId, generation }: SessionHost,
  error: LoadFailure,
): Promise<void> => {
  const effects = await parts.db.transaction(async (tx) => {
    const session = await lockSession(tx, sessionId);
    if (session?.hostId !== hostId || session.generation !== generation) {
      throw staleHost({ sessionId, hostId, generation });
    }
    // A repeated report; the host may have another session by now.
    if (isFinal(sessionTransitions, session.state)) return noEffects;
    const ending =
      session.state === 'CLOSING'
        ? ({ to: 'CLOSED', reason: 'requested', error: null } as const)
        : ({ to: 'FAILED', reason: 'provision_failed', error } as const);
    const detail = `${error.code}: ${error.message}`;
    return endWithHost(tx, session, ending, { reason: 'load_failed', detail });
  });
  applyEffects(parts, effects);
};
