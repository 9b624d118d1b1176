/** A host has loaded its session, or cannot. */

import { sessionTransitions } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import { wholeStep } from '#runtime/trace-steps.ts';
import type { SessionDirective } from '#wire/host-api/operations.ts';
import { nextDirective, staleHost } from '../calls/directive.ts';
import type { SessionHost } from '../db/calls.ts';
import { lockSession } from '../db/endings.ts';
import { claimCall } from '../db/host-calls.ts';
import { makeReady, type Readied } from '../db/ready.ts';
import { endWithHost, noNews, tellNews } from '../lifecycle/end.ts';
import { routeTopic } from '../news/notices.ts';
import type { Parts } from '../parts.ts';

/** What took a host time, as it told when it was ready. */
export type HostStep = { name: string; agoMs: number; tookMs: number };

const traceReady = (
  { tracer }: Parts,
  sessionId: string,
  { start, openedMs, claimedMs }: Readied,
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

/**
 * Makes the session ready and answers what to do first. A repeated report changes nothing; one of a
 * bundle that the session's version does not have is refused like a stale host's.
 */
export const reportReady = async (
  parts: Parts,
  host: SessionHost,
  holding: { bundle: string; stateDigest: string },
  steps: readonly HostStep[] = [],
): Promise<SessionDirective> => {
  const { db, log, notices, metrics } = parts;
  const readied = await makeReady(db, host, holding);
  if (readied !== undefined) {
    const { start, openedMs, claimedMs } = readied;
    log.info({ sessionId: host.sessionId, hostId: host.hostId, start, openedMs }, 'session ready');
    metrics.readySeconds.observe({ start }, openedMs / 1_000);
    metrics.loadSeconds.observe({ start }, claimedMs / 1_000);
    traceReady(parts, host.sessionId, readied, steps);
    notices.tell(host.sessionId, routeTopic(host.sessionId));
  }
  if (readied?.openCalls === 0) return {};
  const atOnce = { seconds: 0, isFinal: false, signal: AbortSignal.abort() };
  return nextDirective(parts, host, atOnce, async () => {
    const work = await claimCall(db, host, false);
    if (work?.state === 'PROVISIONING') throw staleHost(host);
    return work;
  });
};

export type LoadFailure = { code: string; message: string };

/**
 * Ends a session that its host cannot load, with the host's own words, and drains the host. Of a session that
 * is over it changes nothing.
 */
export const reportFailed = async (
  parts: Parts,
  { sessionId, hostId, generation }: SessionHost,
  error: LoadFailure,
): Promise<void> => {
  const news = await parts.db.transaction(async (tx) => {
    const session = await lockSession(tx, sessionId);
    if (session?.hostId !== hostId || session.generation !== generation) {
      throw staleHost({ sessionId, hostId, generation });
    }
    // A repeated report; by now the host may be another session's.
    if (isFinal(sessionTransitions, session.state)) return noNews;
    const ending =
      session.state === 'CLOSING'
        ? ({ to: 'CLOSED', reason: 'requested', error: null } as const)
        : ({ to: 'FAILED', reason: 'provision_failed', error } as const);
    const detail = `${error.code}: ${error.message}`;
    return endWithHost(tx, session, ending, { reason: 'load_failed', detail });
  });
  tellNews(parts, news);
};
