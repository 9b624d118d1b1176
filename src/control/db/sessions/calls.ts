/**
 * Calls of sessions. The row of the session numbers and counts the calls (`last_seq`, `open_calls`). So the lock on
 * that row determines the order of calls, and whether a new call or the end of the session comes first. Every
 * transaction that locks a session and its calls locks the session first.
 */
import { type CallKind, type CallState, shortErrorJson } from '#domain/call.ts';
import { limits } from '#domain/limits.ts';
import { type Queryable, statement } from '../core/database.ts';
import { openSessionStates, readySessionStates } from '../core/states.ts';
import type { RefusingSession } from './ended-session.ts';

export type CallRow = {
  id: string;
  sessionId: string;
  seq: number;
  kind: CallKind;
  name: string | null;
  /** Input as JSON text; it has no fixed schema, and is stored and sent on unchanged. */
  inputJson: string;
  state: CallState;
  outputJson: string | null;
  /** A `CallError` as JSON text; null if there is none. */
  errorJson: string | null;
  changesJson: string;
  requestHash: string | null;
  queuedAt: Date;
  claimedAt: Date | null;
  answeredAt: Date | null;
};

/** Columns from which a `CallRow` is selected, for calls `c`. */
export const callColumns = `c.id, c.session_id as "sessionId", c.seq, c.kind, c.name,
  c.input::text as "inputJson", c.state, c.output::text as "outputJson", c.error::text as "errorJson",
  c.changes::text as "changesJson", c.request_hash as "requestHash", c.queued_at as "queuedAt",
  c.claimed_at as "claimedAt", c.answered_at as "answeredAt"`;

/** Host of a session, with its generation. Reports of the host are accepted only while both match the session's row. */
export type SessionHost = { sessionId: string; hostId: string; generation: number };

export type NewCall = {
  id: string;
  projectId: string;
  sessionId: string;
  kind: CallKind;
  name: string | null;
  inputJson: string;
  /** True if a `close` call asks the host to keep loaded what it has loaded. */
  keepWarm: boolean;
  idempotencyKey: string | null;
  /** Hash of the body; null without an `Idempotency-Key`. */
  requestHash: string | null;
  /** W3C trace context that the client sent; null if it sent none. */
  traceParent: string | null;
};

/** Number of calls that every session may have queued, even if its project has used up its quota of queued calls. */
export const alwaysQueued = 8;

/** Unique index that a second call with the same `Idempotency-Key` violates. */
export const callKeyIndex = 'calls_idempotency';

const insertStatement = statement(
  'insert_call',
  `with gate as materialized (
     select pg_advisory_xact_lock(hashtextextended('calls ' || :projectId, 0))
       from sessions where id = :sessionId and open_calls >= ${alwaysQueued}
   ), s as (
     update sessions
        set last_seq = last_seq + 1, open_calls = open_calls + 1, last_activity_at = now()
      where id = :sessionId and project_id = :projectId and state in ${openSessionStates}
        and open_calls < ${limits.queuedCalls}
        and (open_calls < ${alwaysQueued} or (
          (select count(*) from gate) >= 0 and
          (select queued < most from queue_of(:projectId, :usualQueued::int))
        ))
     returning id, last_seq, generation,
       open_calls = 1 and state in ${readySessionStates} and host_id = :hostId and generation = :generation::int as at_once
   )
   insert into calls as c (id, session_id, seq, kind, name, input, idempotency_key, request_hash,
                           keep_warm, trace_parent, state, generation, claimed_at)
   select :id, s.id, s.last_seq, :kind, :name, :inputJson::json, :idempotencyKey, :requestHash, :keepWarm,
          :traceParent,
          case when s.at_once then 'claimed' else 'queued' end,
          case when s.at_once then s.generation end, case when s.at_once then now() end
     from s
   returning ${callColumns}`,
);

/**
 * Appends a call to the queue of its session. Returns undefined if the session refuses the call (see `findRefusal`).
 * Above `alwaysQueued`, the calls of a project are inserted one at a time, so that together they stay within the
 * project's quota. If `waiting` names the host that polls for this session and the queue is empty, the call is written
 * as claimed, and the caller must hand it to that host.
 */
export const insertCall = async (
  db: Queryable,
  call: NewCall,
  waiting: Omit<SessionHost, 'sessionId'> | undefined,
  usualQueued: number,
): Promise<CallRow | undefined> => {
  const [row] = await db.query<CallRow>(insertStatement, {
    ...call,
    hostId: waiting?.hostId ?? null,
    generation: waiting?.generation ?? null,
    usualQueued,
  });
  return row;
};

const refusalStatement = statement(
  'call_refusal',
  `select s.id, s.state, s.end_reason as "endReason", s.error, s.open_calls as "openCalls", q.queued as "projectCalls", q.most as "projectMost"
     from sessions s cross join queue_of(:projectId, :usualQueued::int) q where s.id = :sessionId and s.project_id = :projectId`,
);

/** State of a session that refused a call, and of the session's project. */
type CallRefusal = RefusingSession & {
  openCalls: number;
  projectCalls: number;
  projectMost: number;
};

/** Returns what may explain why a session refused a call; undefined if the session does not exist. */
export const findRefusal = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
  usualQueued: number,
): Promise<CallRefusal | undefined> =>
  (await db.query<CallRefusal>(refusalStatement, { sessionId, projectId, usualQueued }))[0];

/** Returns true if an open session refused the call because the quota of its project is used up. */
export const isQueueFull = ({ openCalls, projectCalls, projectMost }: CallRefusal): boolean =>
  openCalls >= alwaysQueued && projectCalls >= projectMost;

const findCallStatement = statement(
  'find_call',
  `select ${callColumns} from calls c join sessions s on s.id = c.session_id
    where c.id = :callId and s.id = :sessionId and s.project_id = :projectId`,
);

export type CallRef = { projectId: string; sessionId: string; callId: string };

export const findCall = async (db: Queryable, ref: CallRef): Promise<CallRow | undefined> =>
  (await db.query<CallRow>(findCallStatement, ref))[0];

const findByKeyStatement = statement(
  'find_call_by_key',
  `select ${callColumns} from calls c join sessions s on s.id = c.session_id
    where s.id = :sessionId and s.project_id = :projectId and c.idempotency_key = :key`,
);

/**
 * Returns the call that an earlier request with this `Idempotency-Key` enqueued in the session; undefined if there is
 * none.
 */
export const findCallByKey = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
  key: string,
): Promise<CallRow | undefined> =>
  (await db.query<CallRow>(findByKeyStatement, { sessionId, projectId, key }))[0];

/** Optional members of a call in a list, which are included if they are requested. */
export const callFields = ['input', 'output', 'details'] as const;
export type CallField = (typeof callFields)[number];

/** Call as lists show it. Members that were not requested, or did not fit on the page, are null. */
export type ListedCall = Omit<CallRow, 'inputJson' | 'changesJson' | 'requestHash'> & {
  inputJson: string | null;
  changesJson: string | null;
  /** True if all requested members fit on the page. */
  isWhole: boolean;
};

// Calls are numbered without gaps, so clients find those after a page by number. Members that were not requested are
// not read. After the page reaches its byte limit, calls are listed without their members. The first call is always
// complete, because otherwise no page could show it.
const listStatement = statement(
  'list_calls',
  `with page as (
     select c.id, c.session_id, c.seq, c.kind, c.name, c.state, c.queued_at, c.claimed_at,
            c.answered_at, c.changes::text as changes, case when :input then c.input::text end as input,
            case when :output then c.output::text end as output,
            case when :details then c.error else coalesce(c.short_error, c.error) end::text as error
       from calls c where c.session_id = :sessionId and c.seq > :offset order by c.seq limit :limit
   ), filled as (
     select page.*, row_number() over by_seq = 1 or sum(octet_length(changes)
       + coalesce(octet_length(input), 0) + coalesce(octet_length(output), 0)
       + coalesce(octet_length(error), 0)) over by_seq <= :mostBytes::bigint as whole
       from page window by_seq as (order by seq)
   )
   select id, session_id as "sessionId", seq, kind, name, state,
          case when whole then input end as "inputJson",
          case when whole then output end as "outputJson",
          case when whole then error end as "errorJson",
          case when whole then changes end as "changesJson", whole as "isWhole",
          queued_at as "queuedAt", claimed_at as "claimedAt", answered_at as "answeredAt"
     from filled order by seq`,
);

// Numbers have no gaps, so the last number is the count.
const countStatement = statement(
  'count_calls',
  'select last_seq as total from sessions where id = $1 and project_id = $2',
);

/** Adds the short form of an error to a call from an earlier release, which stored none. */
const withShortError = (row: ListedCall): ListedCall => ({
  ...row,
  errorJson: row.errorJson === null ? null : shortErrorJson(JSON.parse(row.errorJson)),
});

/** Lists a page of a session's calls, oldest first. Returns undefined if the project has no such session. */
export const listCalls = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
  { limit, offset, fields }: { limit: number; offset: number; fields: readonly CallField[] },
): Promise<{ rows: ListedCall[]; total: number } | undefined> => {
  const [count] = await db.query<{ total: number }>(countStatement, [sessionId, projectId]);
  if (count === undefined) return undefined;
  const rows = await db.query<ListedCall>(listStatement, {
    sessionId,
    limit,
    offset,
    ...Object.fromEntries(callFields.map((field) => [field, fields.includes(field)])),
    mostBytes: limits.pageBytes,
  });
  if (fields.includes('details')) return { rows, total: count.total };
  return { rows: rows.map(withShortError), total: count.total };
};
