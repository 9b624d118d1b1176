/**
 * Calls. They are numbered and counted on their session's row (`last_seq`, `open_calls`), so the
 * lock of that one row orders them and decides between a new call and the end of the session.
 *
 * Whoever locks a session and its calls locks the session first.
 */
import type { CallError, CallKind, CallState, ChangeCounts } from '#domain/call.ts';
import { limits } from '#domain/limits.ts';
import type { SessionState } from '#domain/session.ts';
import { type Queryable, statement } from './pool.ts';
import { callBefore, openCallStates, openSessionStates, sessionBefore } from './states.ts';

export type CallRow = {
  id: string;
  sessionId: string;
  seq: number;
  kind: CallKind;
  name: string | null;
  input: unknown;
  state: CallState;
  output: unknown;
  error: CallError | null;
  changes: ChangeCounts;
  requestHash: string | null;
  queuedAt: Date;
  claimedAt: Date | null;
  answeredAt: Date | null;
};

const columns = `c.id, c.session_id as "sessionId", c.seq, c.kind, c.name, c.input, c.state,
  c.output, c.error, c.changes, c.request_hash as "requestHash", c.queued_at as "queuedAt",
  c.claimed_at as "claimedAt", c.answered_at as "answeredAt"`;

/** A host as the session knows it: what it says counts only while both are the session's own. */
export type SessionHost = { sessionId: string; hostId: string; generation: number };

export type NewCall = {
  id: string;
  projectId: string;
  sessionId: string;
  kind: CallKind;
  name: string | null;
  input: unknown;
  idempotencyKey: string | null;
  requestHash: string;
};

/** The unique index that a second call of one `Idempotency-Key` breaks. */
export const callKeyIndex = 'calls_idempotency';

const insertStatement = statement(
  'insert_call',
  `with s as (
     update sessions
        set last_seq = last_seq + 1, open_calls = open_calls + 1, last_activity_at = now()
      where id = $2 and project_id = $3 and state in ${openSessionStates}
        and open_calls < ${limits.queuedCalls}
     returning id, last_seq, generation,
       open_calls = 1 and state = 'READY' and host_id = $9 and generation = $10::int as at_once
   )
   insert into calls as c (id, session_id, seq, kind, name, input, idempotency_key, request_hash,
                           state, generation, claimed_at)
   select $1, s.id, s.last_seq, $4, $5, $6::json, $7, $8,
          case when s.at_once then 'claimed' else 'queued' end,
          case when s.at_once then s.generation end, case when s.at_once then now() end
     from s
   returning ${columns}`,
);

/**
 * Puts a call at the end of its session's queue; undefined when the session takes none (see
 * `findRefusal`). When `waiting` names the host that is polling for this very session and nothing is
 * before the call, the call is written as claimed by that host, and the caller must hand it over.
 */
export const insertCall = async (
  db: Queryable,
  call: NewCall,
  waiting: Omit<SessionHost, 'sessionId'> | undefined,
): Promise<CallRow | undefined> => {
  const [row] = await db.query<CallRow>(insertStatement, [
    call.id,
    call.sessionId,
    call.projectId,
    call.kind,
    call.name,
    JSON.stringify(call.input),
    call.idempotencyKey,
    call.requestHash,
    waiting?.hostId ?? null,
    waiting?.generation ?? null,
  ]);
  return row;
};

const refusalStatement = statement(
  'call_refusal',
  `select state, open_calls as "openCalls" from sessions where id = $1 and project_id = $2`,
);

/** What there is to say about a session that took no call. */
export const findRefusal = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
): Promise<{ state: SessionState; openCalls: number } | undefined> =>
  (
    await db.query<{ state: SessionState; openCalls: number }>(refusalStatement, [
      sessionId,
      projectId,
    ])
  )[0];

const findCallStatement = statement(
  'find_call',
  `select ${columns} from calls c join sessions s on s.id = c.session_id
    where c.id = $1 and s.id = $2 and s.project_id = $3`,
);

export type CallPlace = { projectId: string; sessionId: string; callId: string };

export const findCall = async (db: Queryable, place: CallPlace): Promise<CallRow | undefined> => {
  const { callId, sessionId, projectId } = place;
  return (await db.query<CallRow>(findCallStatement, [callId, sessionId, projectId]))[0];
};

const findByKeyStatement = statement(
  'find_call_by_key',
  `select ${columns} from calls c join sessions s on s.id = c.session_id
    where s.id = $1 and s.project_id = $2 and c.idempotency_key = $3`,
);

/** The call that an earlier request with this `Idempotency-Key` enqueued in the session. */
export const findCallByKey = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
  key: string,
): Promise<CallRow | undefined> =>
  (await db.query<CallRow>(findByKeyStatement, [sessionId, projectId, key]))[0];

const listStatement = statement(
  'list_calls',
  `select ${columns} from calls c where c.session_id = $1 order by c.seq limit $2 offset $3`,
);

// Numbers have no gaps, so the last one is how many there are.
const countStatement = statement(
  'count_calls',
  'select last_seq as total from sessions where id = $1 and project_id = $2',
);

/** A page of a session's calls, oldest first; undefined when the project has no such session. */
export const listCalls = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
  page: { limit: number; offset: number },
): Promise<{ rows: CallRow[]; total: number } | undefined> => {
  const [count] = await db.query<{ total: number }>(countStatement, [sessionId, projectId]);
  if (count === undefined) return undefined;
  const rows = await db.query<CallRow>(listStatement, [sessionId, page.limit, page.offset]);
  return { rows, total: count.total };
};

/** What a session wants of its host. */
export type SessionOrders = {
  state: SessionState;
  keepWarm: boolean;
  call: Pick<CallRow, 'id' | 'seq' | 'kind' | 'name' | 'input'> | undefined;
};

type OrdersRow = {
  sessionState: SessionState;
  keepWarm: boolean;
  id: string | null;
  seq: number;
  kind: CallKind;
  name: string | null;
  input: unknown;
};

const toOrders = (row: OrdersRow): SessionOrders => {
  const { sessionState, keepWarm, id, seq, kind, name, input } = row;
  const call = id === null ? undefined : { id, seq, kind, name, input };
  return { state: sessionState, keepWarm, call };
};

const ordersColumns = `s.state as "sessionState", s.keep_warm as "keepWarm", c.id, c.seq, c.kind,
  c.name, c.input`;

// The first open call is either queued, or claimed by this generation and not answered: that one
// comes again. A closing session hands out nothing new.
const claimStatement = statement(
  'claim_call',
  `with s as (
     select id, state, keep_warm from sessions where id = $1 and host_id = $2 and generation = $3
   ), c as (
     update calls c
        set state = 'claimed', generation = $3, claimed_at = coalesce(c.claimed_at, now())
       from s
      where c.id = (select id from calls
                     where session_id = $1 and state in ${openCallStates} order by seq limit 1)
        and ((c.state in ${callBefore('claimed')} and s.state = 'READY')
             or (c.state = 'claimed' and c.generation = $3 and s.state in ('READY', 'CLOSING')))
     returning c.*
   )
   select ${ordersColumns} from s left join c on true`,
);

/** The next call for the session's host, claimed; undefined when the host is not the session's. */
export const claimCall = async (
  db: Queryable,
  host: SessionHost,
): Promise<SessionOrders | undefined> => {
  const values = [host.sessionId, host.hostId, host.generation];
  const [row] = await db.query<OrdersRow>(claimStatement, values);
  return row === undefined ? undefined : toOrders(row);
};

export type NewAnswer = {
  callId: string;
  state: 'succeeded' | 'failed';
  output: unknown;
  error: CallError | null;
  changes: ChangeCounts;
};

// One statement answers a call and claims the next. A `close` call that succeeded also moves its
// session on; what is still queued then is cancelled by whoever asked (see `cancelQueued`).
const answerStatement = statement(
  'answer_call',
  `with s as materialized (
     select id, state from sessions
      where id = $1 and host_id = $2 and generation = $3 for no key update
   ), answered as (
     update calls c
        set state = $5, output = $6::json, error = $7::json, changes = $8::json, answered_at = now()
       from s
      where c.id = $4 and c.session_id = s.id and c.generation = $3
        and c.state in ${callBefore('succeeded')}
     returning c.*
   ), ends as (
     select a.kind = 'close' and a.state = 'succeeded'
              and s.state in ${sessionBefore('CLOSING')} as closing,
            coalesce(a.input ->> 'keepWarm' = 'true', false) as keep_warm
       from answered a, s
   ), touched as (
     update sessions
        set open_calls = open_calls - 1, last_activity_at = now(),
            state = case when closing then 'CLOSING' else state end,
            state_since = case when closing then now() else state_since end,
            end_reason = case when closing then 'requested' else end_reason end,
            keep_warm = case when closing then ends.keep_warm else sessions.keep_warm end
       from ends where id = $1
     returning sessions.id, sessions.state, sessions.keep_warm
   ), next as (
     update calls c set state = 'claimed', generation = $3, claimed_at = now()
       from touched
      where c.id = (select id from calls where session_id = $1
                       and state in ${callBefore('claimed')} order by seq limit 1)
        and c.state in ${callBefore('claimed')} and touched.state = 'READY'
     returning c.*
   )
   select ${columns},
          touched.state as "sessionState", touched.keep_warm as "keepWarm",
          next.id as "nextId", next.seq as "nextSeq", next.kind as "nextKind",
          next.name as "nextName", next.input as "nextInput"
     from answered c join touched on true left join next on true`,
);

type AnswerRow = CallRow & {
  sessionState: SessionState;
  keepWarm: boolean;
  nextId: string | null;
  nextSeq: number;
  nextKind: CallKind;
  nextName: string | null;
  nextInput: unknown;
};

export type Answered = { call: CallRow; orders: SessionOrders };

/**
 * Records a call's answer and claims the next call; undefined when the call is not one that this
 * host has claimed and not answered (see `findAnswered`).
 */
export const answerCall = async (
  db: Queryable,
  host: SessionHost,
  answer: NewAnswer,
): Promise<Answered | undefined> => {
  const [row] = await db.query<AnswerRow>(answerStatement, [
    host.sessionId,
    host.hostId,
    host.generation,
    answer.callId,
    answer.state,
    answer.output === undefined ? null : JSON.stringify(answer.output),
    answer.error === null ? null : JSON.stringify(answer.error),
    JSON.stringify(answer.changes),
  ]);
  if (row === undefined) return undefined;
  const { sessionState, keepWarm, nextId, nextSeq, nextKind, nextName, nextInput, ...call } = row;
  const next =
    nextId === null
      ? undefined
      : { id: nextId, seq: nextSeq, kind: nextKind, name: nextName, input: nextInput };
  return { call, orders: { state: sessionState, keepWarm, call: next } };
};

const answeredStatement = statement(
  'answered_call',
  `select c.state, s.host_id = $3 and s.generation = $4 as "isCurrent"
     from sessions s left join calls c on c.session_id = s.id and c.id = $2
    where s.id = $1`,
);

/** How a call stands that could not be answered: whether its session is still this host's. */
export const findAnswered = async (
  db: Queryable,
  host: SessionHost,
  callId: string,
): Promise<{ state: CallState | null; isCurrent: boolean | null } | undefined> => {
  const values = [host.sessionId, callId, host.hostId, host.generation];
  return (
    await db.query<{ state: CallState | null; isCurrent: boolean | null }>(
      answeredStatement,
      values,
    )
  )[0];
};

const cancelStatement = statement(
  'cancel_queued',
  `with cancelled as (
     update calls set state = 'cancelled', error = $2::json
      where session_id = any($1) and state in ${callBefore('cancelled')}
     returning id, session_id
   ), counted as (
     update sessions s set open_calls = open_calls - n
       from (select session_id, count(*)::int as n from cancelled group by session_id) gone
      where s.id = gone.session_id
   )
   select id from cancelled`,
);

/** Cancels what no host has taken of sessions that the transaction has locked; returns the ids. */
export const cancelQueued = async (
  tx: Queryable,
  sessionIds: readonly string[],
  error: CallError,
): Promise<string[]> => {
  const rows = await tx.query<{ id: string }>(cancelStatement, [sessionIds, JSON.stringify(error)]);
  return rows.map(({ id }) => id);
};

const endStatement = statement(
  'end_calls',
  `update calls
      set state = case when state in ${callBefore('cancelled')} then 'cancelled' else 'lost' end,
          error = case when state in ${callBefore('cancelled')} then $2::json else $3::json end
    where session_id = $1 and state in ${openCallStates}
   returning id`,
);

/** Ends what is open of a session that ended: `cancelled` if nobody took it, else `lost`. */
export const endCalls = async (
  tx: Queryable,
  sessionId: string,
  errors: { cancelled: CallError; lost: CallError },
): Promise<string[]> => {
  const rows = await tx.query<{ id: string }>(endStatement, [
    sessionId,
    JSON.stringify(errors.cancelled),
    JSON.stringify(errors.lost),
  ]);
  return rows.map(({ id }) => id);
};
