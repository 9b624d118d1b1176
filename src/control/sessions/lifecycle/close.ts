/**
 * Closes sessions at the request of their owners. The host gets a notification and reports once it has stopped serving
 * the session; a session without a host is closed at once. The host then recycles itself if three conditions hold: the
 * owner asked to keep it warm, it has a state digest with which it can prove that it is clean, and it is not worn.
 * Otherwise the host exits.
 */
import { AppError } from '#domain/error.ts';
import type { HostEnd } from '#domain/host.ts';
import { sessionTransitions } from '#domain/session.ts';
import { shareOf } from '#domain/share.ts';
import { can } from '#domain/transitions.ts';
import type { Holding } from '#wire/host-api/assignment.ts';
import type { KeptEntry } from '../../base/bodies/ledger-entry.ts';
import type { Queryable } from '../../db/core/database.ts';
import type { SessionHost } from '../../db/sessions/calls.ts';
import {
  beginClosing,
  cancelQueued,
  closeIdle,
  type LockedHost,
  type LockedSession,
  lockHost,
  lockOwnSession,
  lockSession,
  releaseHost,
} from '../../db/sessions/endings.ts';
import { closeAndRecycle } from '../../db/sessions/recycle.ts';
import { insertRequests, makeRoom } from '../../db/sessions/requests.ts';
import type { SessionRow } from '../../db/sessions/session-row.ts';
import { noSession } from '../../db/sessions/sessions.ts';
import { poolTopic, routeTopic } from '../../platform/notifications/notifications.ts';
import { staleHost } from '../calls/directive.ts';
import type { SessionParts } from '../parts.ts';
import {
  addEffects,
  applyEffects,
  type Effects,
  endedCalls,
  endSession,
  noEffects,
} from '../scheduling/end-sessions.ts';
import { awaitWatched, hasEnded, type SessionWait } from './wait.ts';

const beginToClose = async (
  tx: Queryable,
  session: LockedSession,
  keepWarm: boolean,
): Promise<Effects> => {
  if (!can(sessionTransitions, session.state, 'CLOSING')) return noEffects;
  if (session.hostId === null) {
    return endSession(tx, session, { to: 'CLOSED', reason: 'requested', error: null });
  }
  await beginClosing(tx, session.id, 'requested', keepWarm);
  const cancelled = await cancelQueued(tx, [session.id], endedCalls('requested').cancelled);
  return addEffects(noEffects, [session.id], cancelled);
};

/**
 * Closes a session, or starts to close it, and returns the new state if known. Calling it again changes nothing. Throws
 * `not_found` if the project has no such session.
 */
const close = async (
  parts: SessionParts,
  projectId: string,
  sessionId: string,
  keepWarm: boolean,
): Promise<SessionRow | undefined> => {
  const closing = await closeIdle(parts.db, projectId, sessionId, keepWarm);
  if (closing !== undefined) {
    const { session, work } = closing;
    parts.notifications.notifyOfSession({ session, work }, routeTopic(sessionId), poolTopic);
    return session;
  }
  const effects = await parts.db.transaction(async (tx) => {
    const session = await lockOwnSession(tx, projectId, sessionId);
    if (session === undefined) throw noSession(sessionId);
    return beginToClose(tx, session, keepWarm);
  });
  applyEffects(parts, effects);
  return undefined;
};

/** Closes a session and, if requested, waits until it has ended. */
export const closeAndWait = async (
  parts: SessionParts,
  wait: Omit<SessionWait, 'until'>,
  keepWarm: boolean,
): Promise<SessionRow> => {
  const { projectId, sessionId } = wait;
  const watch = parts.notifications.watch(sessionId);
  try {
    const known = await close(parts, projectId, sessionId, keepWarm);
    return await awaitWatched(parts, watch, known, { ...wait, until: hasEnded });
  } finally {
    watch.end();
  }
};

/** Answer to a close report. `warm`: the host has already recycled itself and is warm, or has its next session. */
export type Dismissal = { generation: number; next: 'recycle' | 'exit' | 'warm'; taken: true };

/**
 * Returns the number of sessions after which a host is worn: `maxUses` minus up to half of it. The deduction differs
 * from host to host, because hosts that started together would otherwise all be replaced at the same time.
 */
export const usesOf = (hostId: string, maxUses: number): number =>
  maxUses - Math.floor((maxUses / 2) * shareOf(hostId));

/** Returns why a host exits after a session; undefined if the host recycles itself. */
const endOf = (
  { id, uses, stateDigest }: LockedHost,
  keepWarm: boolean,
  maxUses: number,
): HostEnd | undefined => {
  if (!keepWarm || stateDigest === null) return 'session_closed';
  return uses >= usesOf(id, maxUses) ? 'worn' : undefined;
};

const nextOf = (to: LockedHost['state']): Dismissal['next'] => {
  if (to === 'recycling') return 'recycle';
  return to === 'warm' || to === 'assigned' ? 'warm' : 'exit';
};

const dismissalOf = (generation: number, to: LockedHost['state']): Dismissal => ({
  generation,
  next: nextOf(to),
  taken: true,
});

/**
 * Returns true if the host's generation shows that the session of the given generation has already ended on it, and
 * that the host has had at most one session since.
 */
const isAfter = (host: LockedHost, generation: number): boolean =>
  host.generation === generation + 1 ||
  (host.generation === generation + 2 && host.state === 'assigned');

const finishClosing = async (
  tx: Queryable,
  session: LockedSession,
  host: LockedHost,
  maxUses: number,
): Promise<{ effects: Effects; dismissal: Dismissal }> => {
  const end = endOf(host, session.keepWarm, maxUses);
  const to = end === undefined ? 'recycling' : 'draining';
  const effects = await endSession(tx, session, { to: 'CLOSED', reason: 'requested', error: null });
  const release = { hostId: host.id, to, reason: end ?? null, detail: null } as const;
  const generation = await releaseHost(tx, release);
  if (generation === undefined) throw new Error(`${host.id} could not change to the state ${to}`);
  return { effects: addEffects(effects, [host.id]), dismissal: dismissalOf(generation, to) };
};

/**
 * Closes the session in one statement and returns the new generation of its host; undefined if closing needs more
 * steps. `holding` is given for a host that has already recycled itself; it makes the host warm.
 */
export const closeAsUsual = async (
  parts: SessionParts,
  asked: SessionHost,
  entries: readonly KeptEntry[],
  holding?: Holding,
): Promise<number | undefined> => {
  const { sessionId, hostId } = asked;
  const mostUses = usesOf(hostId, parts.config.hostMaxUses);
  const recycled = await closeAndRecycle(parts.db, asked, mostUses, entries, holding);
  if (recycled === undefined) return undefined;
  const { session, generation, keptBytes } = recycled;
  applyEffects(parts, { ...noEffects, ends: [{ sessionId, hostId, reason: session.endReason }] });
  parts.notifications.notifyOfSession({ session }, routeTopic(sessionId), poolTopic);
  // The session is closed even if this fails, and waiters have already been notified.
  try {
    await makeRoom(parts.db, sessionId, entries, keptBytes);
  } catch (err) {
    parts.log.warn({ err, sessionId }, 'the ledger of a session exceeds its limit');
  }
  return generation;
};

/** Closes the session and stores the last entries of the ledger. A repeated report gets the same answer. */
export const reportClosed = async (
  parts: SessionParts,
  asked: SessionHost,
  entries: readonly KeptEntry[],
): Promise<Dismissal> => {
  const usual = await closeAsUsual(parts, asked, entries);
  if (usual !== undefined) return dismissalOf(usual, 'recycling');
  const { sessionId, hostId, generation } = asked;
  const { db, config } = parts;
  const isTaken = entries.length === 0 || (await insertRequests(db, asked, entries));
  const { effects, dismissal } = await db.transaction(async (tx) => {
    const session = await lockSession(tx, sessionId);
    const host = await lockHost(tx, hostId);
    if (session?.hostId !== hostId || session.generation !== generation || host === undefined) {
      throw staleHost(asked);
    }
    // If the host already has its next session, the entries were stored when the session ended.
    if (!isTaken && host.state !== 'assigned') throw staleHost(asked);
    if (session.state === 'CLOSING') return finishClosing(tx, session, host, config.hostMaxUses);
    if (session.state === 'CLOSED' && isAfter(host, generation)) {
      return { effects: noEffects, dismissal: dismissalOf(generation + 1, host.state) };
    }
    throw new AppError(
      'conflict',
      `${sessionId} is ${session.state}, and no request to close it was made`,
    );
  });
  applyEffects(parts, effects);
  return dismissal;
};
