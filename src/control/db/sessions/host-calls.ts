/**
 * Calls as the host of a session handles them: it claims them one after another and answers them. Each statement names
 * the host with its generation, so it finds nothing if the host does not serve the session. A stopping host claims
 * nothing, because a call for which it has no time would be lost. Every transaction that locks a session and its calls
 * locks the session first.
 */
import type { CallKind, CallState } from '#domain/call.ts';
import type { SessionState } from '#domain/session.ts';
import { type Queryable, statement } from '../core/database.ts';
import {
  callBefore,
  openCallStates,
  readySessionStates,
  servedSessionStates,
  sessionBefore,
} from '../core/states.ts';
import { type CallRow, callColumns, type SessionHost } from './calls.ts';
import { noteGrade } from './last-grade.ts';

/** Work of a session for the session's host. */
export type SessionWork = {
  state: SessionState;
  keepWarm: boolean;
  call: Pick<CallRow, 'id' | 'seq' | 'kind' | 'name' | 'inputJson'> | undefined;
};

type WorkRow = {
  sessionState: SessionState;
  keepWarm: boolean;
  id: string | null;
  seq: number;
  kind: CallKind;
  name: string | null;
  inputJson: string;
};

const toWork = (row: WorkRow): SessionWork => {
  const { sessionState, keepWarm, id, seq, kind, name, inputJson } = row;
  const call = id === null ? undefined : { id, seq, kind, name, inputJson };
  return { state: sessionState, keepWarm, call };
};

const workColumns = `s.state as "sessionState", s.keep_warm as "keepWarm", c.id, c.seq, c.kind,
  c.name, c.input::text as "inputJson"`;

// The first open call is queued, or claimed by this generation and not answered; in the second case the host gets it
// again. A closing session hands out no new call.
const claimStatement = statement(
  'claim_call',
  `with s as (
     select id, state, keep_warm from sessions
      where id = :sessionId and host_id = :hostId and generation = :generation
   ), c as (
     update calls c
        set state = 'claimed', generation = :generation, claimed_at = coalesce(c.claimed_at, now())
       from s
      where c.id = (select id from calls
                     where session_id = :sessionId and state in ${openCallStates}
                     order by seq limit 1)
        and ((c.state in ${callBefore('claimed')} and s.state in ${readySessionStates}
              and not :isStopping::boolean)
             or (c.state = 'claimed' and c.generation = :generation
                 and s.state in ${servedSessionStates}))
     returning c.*
   )
   select ${workColumns} from s left join c on true`,
);

/**
 * Claims the next call for the host of the session. Returns undefined if the host does not serve the session. A
 * stopping host gets only a call that it had claimed before.
 */
export const claimCall = async (
  db: Queryable,
  host: SessionHost,
  isStopping: boolean,
): Promise<SessionWork | undefined> => {
  const [row] = await db.query<WorkRow>(claimStatement, { ...host, isStopping });
  return row === undefined ? undefined : toWork(row);
};

export type NewAnswer = {
  callId: string;
  state: 'succeeded' | 'failed';
  /** Output and error as JSON texts, which are stored unchanged; null if absent. */
  outputJson: string | null;
  errorJson: string | null;
  /** Error without its details, for lists; null if the error has no details. */
  shortErrorJson: string | null;
  changesJson: string;
};

/**
 * Builds the part `graded` of a statement. It adds grades that were just answered to the outbox for session traces.
 * This is needed because a grade has no ledger entry, and traces take everything else from ledger entries. `answered`
 * must be a part with the rows of the calls and the traces of their sessions.
 */
export const enqueueGrades = (answered: string): string =>
  `graded as (
     insert into trace_dues (session_id, tells_session, bytes, call_id)
     select a.session_id, false, coalesce(octet_length(a.output::text), 0), a.id
       from ${answered} a where a.kind = 'grade' and a.trace_id is not null
   )`;

// One statement answers a call and claims the next. A `close` call that succeeds also moves its session to CLOSING.
// The caller then cancels what is still queued (see `cancelQueued`).
const answerStatement = statement(
  'answer_call',
  `with s as materialized (
     select id, state, trace_id from sessions
      where id = :sessionId and host_id = :hostId and generation = :generation for no key update
   ), answered as (
     update calls c
        set state = :state, output = :outputJson::json, error = :errorJson::json, changes = :changesJson::json, answered_at = now(),
            short_error = :shortErrorJson::json
       from s
      where c.id = :callId and c.session_id = s.id and c.generation = :generation
        and c.state in ${callBefore('succeeded')}
     returning c.*, s.trace_id
   ), ${enqueueGrades('answered')}, ends as (
     select a.kind = 'close' and a.state = 'succeeded'
              and s.state in ${sessionBefore('CLOSING')} as closing,
            a.keep_warm
       from answered a, s
   ), touched as (
     update sessions
        set open_calls = open_calls - 1, last_activity_at = now(),
            ${noteGrade('a', 'sessions')},
            state = case when closing then 'CLOSING' else sessions.state end,
            state_since = case when closing then now() else state_since end,
            end_reason = case when closing then 'requested' else end_reason end,
            keep_warm = case when closing then ends.keep_warm else sessions.keep_warm end
       from ends, answered a where sessions.id = :sessionId
     returning sessions.id, sessions.state, sessions.keep_warm
   ), next as (
     update calls c set state = 'claimed', generation = :generation, claimed_at = now()
       from touched
      where c.id = (select id from calls where session_id = :sessionId
                       and state in ${callBefore('claimed')} order by seq limit 1)
        and c.state in ${callBefore('claimed')} and touched.state in ${readySessionStates} and not :isStopping::boolean
     returning c.*
   )
   select ${callColumns},
          touched.state as "sessionState", touched.keep_warm as "keepWarm",
          next.id as "nextId", next.seq as "nextSeq", next.kind as "nextKind",
          next.name as "nextName", next.input::text as "nextInput"
     from answered c join touched on true left join next on true`,
);

/** Call that was answered, with the next work of its session. */
export type AnswerRow = CallRow & {
  sessionState: SessionState;
  keepWarm: boolean;
  nextId: string | null;
  nextSeq: number;
  nextKind: CallKind;
  nextName: string | null;
  nextInput: string;
};

export type Answered = { call: CallRow; work: SessionWork };

/** Splits an `AnswerRow` into the answered call and the next work. */
export const answeredOf = (row: AnswerRow): Answered => {
  const { sessionState, keepWarm, nextId, nextSeq, nextKind, nextName, nextInput, ...call } = row;
  const next =
    nextId === null
      ? undefined
      : { id: nextId, seq: nextSeq, kind: nextKind, name: nextName, inputJson: nextInput };
  return { call, work: { state: sessionState, keepWarm, call: next } };
};

/**
 * Records the answer of a call. Unless the host is stopping, also claims the next call. Returns undefined if this host
 * has not claimed the call, or the call is answered already (see `findAnswered`).
 */
export const answerCall = async (
  db: Queryable,
  host: SessionHost,
  answer: NewAnswer,
  isStopping: boolean,
): Promise<Answered | undefined> => {
  const [row] = await db.query<AnswerRow>(answerStatement, { ...host, ...answer, isStopping });
  return row === undefined ? undefined : answeredOf(row);
};

const answeredStatement = statement(
  'answered_call',
  `select c.state, s.host_id = :hostId and s.generation = :generation as "isCurrent"
     from sessions s left join calls c on c.session_id = s.id and c.id = :callId
    where s.id = :sessionId`,
);

type AnsweredCall = { state: CallState | null; isCurrent: boolean | null };

/**
 * Returns the state of a call whose answer was not recorded, and whether this host still serves the session of the
 * call; undefined if the session has no such call.
 */
export const findAnswered = async (
  db: Queryable,
  host: SessionHost,
  callId: string,
): Promise<AnsweredCall | undefined> =>
  (await db.query<AnsweredCall>(answeredStatement, { ...host, callId }))[0];
