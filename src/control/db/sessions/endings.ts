/**
 * Statements that end a session and its calls, and that release its host. They run in a transaction that locks the
 * session first, then its calls, then its host. The folder `sessions/` of the control plane decides when to run which
 * of them.
 */

import type { CallError, CallKind, CallState } from '#domain/call.ts';
import { withoutNul } from '#domain/cut.ts';
import type { HostEnd, HostKind, HostState } from '#domain/host.ts';
import type { EndReason, SessionState } from '#domain/session.ts';
import { type Queryable, statement } from '../core/database.ts';
import {
  callBefore,
  hostBefore,
  openCallStates,
  openSessionStates,
  sessionBefore,
} from '../core/states.ts';
import type { SessionError } from './ended-session.ts';
import type { SessionWork } from './host-calls.ts';
import { type SessionRow, sessionColumns } from './session-row.ts';

/** Session whose row this transaction has locked. */
export type LockedSession = {
  id: string;
  state: SessionState;
  hostId: string | null;
  generation: number | null;
  keepWarm: boolean;
  /** Number of calls that are queued or claimed by the host. */
  openCalls: number;
  /** Number of hosts that the session was assigned to so far. */
  attempts: number;
};

const lockedColumns = `id, state, host_id as "hostId", generation, keep_warm as "keepWarm",
  open_calls as "openCalls", attempts`;

const lockStatement = statement(
  'lock_session',
  `select ${lockedColumns} from sessions where id = $1 for no key update`,
);

const first = async <Row>(rows: Promise<Row[]>): Promise<Row | undefined> => (await rows)[0];

export const lockSession = (tx: Queryable, sessionId: string): Promise<LockedSession | undefined> =>
  first(tx.query<LockedSession>(lockStatement, [sessionId]));

const lockOwnStatement = statement(
  'lock_own_session',
  `select ${lockedColumns} from sessions where id = $1 and project_id = $2 for no key update`,
);

/** Locks a session of a project and returns it; undefined if it does not exist. */
export const lockOwnSession = (
  tx: Queryable,
  projectId: string,
  sessionId: string,
): Promise<LockedSession | undefined> =>
  first(tx.query<LockedSession>(lockOwnStatement, [sessionId, projectId]));

const lockStuckStatement = statement(
  'lock_stuck_session',
  `select ${lockedColumns} from sessions
    where id = :sessionId and state = :state and state_since < now() - :overMs * interval '1 millisecond'
      for no key update`,
);

/** Locks a session and returns it if it has been in `state` for longer than `overMs` milliseconds. */
export const lockStuckSession = (
  tx: Queryable,
  sessionId: string,
  stuck: { state: SessionState; overMs: number },
): Promise<LockedSession | undefined> =>
  first(tx.query<LockedSession>(lockStuckStatement, { sessionId, ...stuck }));

/** End of a session to be recorded. If the session was being closed, it already has a reason, and keeps that reason. */
export type Ending = { to: 'CLOSED' | 'FAILED'; reason: EndReason; error: SessionError | null };

const finishStatement = (to: Ending['to']) =>
  statement(
    `finish_session_${to.toLowerCase()}`,
    `with ended as (
       update sessions
          set state = '${to}', state_since = now(), closed_at = now(), open_calls = 0,
              end_reason = coalesce(end_reason, :reason), error = coalesce(:error::json, error)
        where id = :sessionId and state in ${sessionBefore(to)}
       returning id, trace_id, end_reason
     ), due as (
       insert into trace_dues (session_id, tells_session, bytes)
       select id, true, 0 from ended where trace_id is not null
     )
     select end_reason as reason from ended`,
  );
const finishStatements = { CLOSED: finishStatement('CLOSED'), FAILED: finishStatement('FAILED') };

/**
 * Moves a session to its final state and returns its end reason. Returns undefined if the session was already in a
 * final state. The caller must then end the open calls of the session (`endCalls`).
 */
export const finishSession = async (
  tx: Queryable,
  sessionId: string,
  { to, reason, error }: Ending,
): Promise<EndReason | undefined> => {
  const end = { sessionId, reason, error: error === null ? null : JSON.stringify(error) };
  return (await tx.query<{ reason: EndReason }>(finishStatements[to], end))[0]?.reason;
};

const beginClosingStatement = statement(
  'begin_closing',
  `update sessions
      set state = 'CLOSING', state_since = now(), end_reason = :reason, keep_warm = :keepWarm
    where id = :sessionId and state in ${openSessionStates}`,
);

/**
 * Moves a session to CLOSING. The host of the session learns that from its next poll, and stops serving the session.
 */
export const beginClosing = async (
  tx: Queryable,
  sessionId: string,
  reason: EndReason,
  keepWarm: boolean,
): Promise<void> => {
  await tx.query(beginClosingStatement, { sessionId, reason, keepWarm });
};

const closeIdleStatement = statement(
  'close_idle_session',
  `update sessions s
      set state = 'CLOSING', state_since = now(), end_reason = 'requested', keep_warm = :keepWarm
    where s.id = :sessionId and s.project_id = :projectId and s.state in ${openSessionStates}
      and s.host_id is not null and s.open_calls = 0
   returning s.generation, ${sessionColumns({ hostAddress: '(select h.address from hosts h where h.id = s.host_id)' })}`,
);

/** Session that is being closed, and the work for the host of the session. */
export type Closing = {
  session: SessionRow;
  work: SessionWork & { hostId: string; generation: number };
};

/**
 * Moves a session without open calls to CLOSING in one statement, at the request of its owner. Returns the session with
 * the work for its host. Returns undefined if the session has open calls, has no host, or is not open.
 */
export const closeIdle = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
  keepWarm: boolean,
): Promise<Closing | undefined> => {
  type Row = SessionRow & { hostId: string; generation: number };
  const [row] = await db.query<Row>(closeIdleStatement, { sessionId, projectId, keepWarm });
  if (row === undefined) return undefined;
  const { generation, ...session } = row;
  const { hostId, state } = session;
  return { session, work: { hostId, generation, state, keepWarm, call: undefined } };
};

const requeueStatement = statement(
  'requeue_session',
  `update sessions
      set host_id = null, generation = null, host_reused = false, assigned_at = null
    where id = $1 and state = 'PROVISIONING'`,
);

/** Makes a session that lost its host before it became ready wait for another host. */
export const requeueSession = async (tx: Queryable, sessionId: string): Promise<void> => {
  await tx.query(requeueStatement, [sessionId]);
};

export type Release = {
  hostId: string;
  to: 'recycling' | 'draining' | 'gone';
  reason: string | null;
  detail: string | null;
};

/**
 * Builds the statement that moves a host to a state and ends its assignment. The generation of the host is raised only
 * if the host had an assignment.
 */
const releaseStatement = (to: Release['to']) =>
  statement(
    `release_host_${to}`,
    `update hosts
        set state = '${to}', state_since = now(),
            generation = generation + case when session_id is null then 0 else 1 end,
            session_id = null, end_reason = coalesce(end_reason, :reason),
            end_detail = coalesce(end_detail, :detail)
      where id = :hostId and state in ${hostBefore(to)}
     returning generation`,
  );
const releaseStatements = {
  recycling: releaseStatement('recycling'),
  draining: releaseStatement('draining'),
  gone: releaseStatement('gone'),
};

/**
 * Moves a host to another state and ends its assignment. Returns the new generation; undefined if the host may not
 * change to that state.
 */
export const releaseHost = async (tx: Queryable, release: Release): Promise<number | undefined> => {
  const { hostId, to, reason } = release;
  const detail = release.detail === null ? null : withoutNul(release.detail);
  const end = { hostId, reason, detail };
  const rows = await tx.query<{ generation: number }>(releaseStatements[to], end);
  return rows[0]?.generation;
};

/** Host whose row this transaction has locked. */
export type LockedHost = {
  id: string;
  state: HostState;
  kind: HostKind;
  generation: number;
  sessionId: string | null;
  uses: number;
  /**
   * Digest of the host's state; null until the host has reported its load. Without it the host cannot prove that it is
   * clean.
   */
  stateDigest: string | null;
  endReason: HostEnd | null;
};

const lockHostStatement = statement(
  'lock_host',
  `select id, state, kind, generation, session_id as "sessionId", uses, state_digest as "stateDigest",
          end_reason as "endReason"
     from hosts where id = $1 for no key update`,
);

export const lockHost = (tx: Queryable, hostId: string): Promise<LockedHost | undefined> =>
  first(tx.query<LockedHost>(lockHostStatement, [hostId]));

/** Call that ended without an answer. */
export type EndedCall = { id: string; kind: CallKind; state: CallState };

const cancelStatement = statement(
  'cancel_queued',
  `with cancelled as (
     update calls set state = 'cancelled', error = :error::json
      where session_id = any(:sessionIds) and state in ${callBefore('cancelled')}
     returning id, session_id, kind, state
   ), counted as (
     update sessions s set open_calls = open_calls - n
       from (select session_id, count(*)::int as n from cancelled group by session_id) gone
      where s.id = gone.session_id
   )
   select id, kind, state from cancelled`,
);

/** Cancels the queued calls of sessions that the transaction has locked. */
export const cancelQueued = async (
  tx: Queryable,
  sessionIds: readonly string[],
  error: CallError,
): Promise<EndedCall[]> =>
  tx.query<EndedCall>(cancelStatement, { sessionIds, error: JSON.stringify(error) });

const endStatement = statement(
  'end_calls',
  `update calls
      set state = case when state in ${callBefore('cancelled')} then 'cancelled' else 'lost' end,
          error = case when state in ${callBefore('cancelled')} then :cancelled::json else :lost::json end
    where session_id = :sessionId and state in ${openCallStates}
   returning id, kind, state`,
);

/**
 * Ends the open calls of a session that ended. A call becomes `cancelled` if no host had claimed it, otherwise `lost`.
 */
export const endCalls = async (
  tx: Queryable,
  sessionId: string,
  errors: { cancelled: CallError; lost: CallError },
): Promise<EndedCall[]> =>
  tx.query<EndedCall>(endStatement, {
    sessionId,
    cancelled: JSON.stringify(errors.cancelled),
    lost: JSON.stringify(errors.lost),
  });
