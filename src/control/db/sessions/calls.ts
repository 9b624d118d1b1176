/**
 * Calls. They are numbered and counted on the row of their session (`last_seq`, `open_calls`). So the lock of that row
 * orders them, and decides between a new call and the end of the session.
 *
 * Every transaction that locks a session and its calls locks the session first.
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
  /** Free JSON stays text: it is stored and sent on unchanged. */
  inputJson: string;
  state: CallState;
  outputJson: string | null;
  /** A `CallError`, as JSON text. */
  errorJson: string | null;
  changesJson: string;
  requestHash: string | null;
  queuedAt: Date;
  claimedAt: Date | null;
  answeredAt: Date | null;
};

/** Select list of a `CallRow` from calls `c`. */
export const callColumns = `c.id, c.session_id as "sessionId", c.seq, c.kind, c.name,
  c.input::text as "inputJson", c.state, c.output::text as "outputJson", c.error::text as "errorJson",
  c.changes::text as "changesJson", c.request_hash as "requestHash", c.queued_at as "queuedAt",
  c.claimed_at as "claimedAt", c.answered_at as "answeredAt"`;

/** Host of a session with its generation. Its reports count only while both match the session's row. */
export type SessionHost = { sessionId: string; hostId: string; generation: number };

export type NewCall = {
  id: string;
  projectId: string;
  sessionId: string;
  kind: CallKind;
  name: string | null;
  inputJson: string;
  /** True if a `close` call requests that the host keeps what it has loaded. */
  keepWarm: boolean;
  idempotencyKey: string | null;
  /** Hash of the body; null without an idempotency key. */
  requestHash: string | null;
  /** W3C trace context of the client. */
  traceParent: string | null;
};

/** Number of calls that a session may always have queued, however many its project has queued. */
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
 * Appends a call to its session's queue; returns undefined if the session refuses it (see `findRefusal`). Above
 * `alwaysQueued`, the calls of a project are inserted one at a time, so that together they stay within its quota. If
 * `waiting` names the host that polls for this session, and the queue is empty, the call is written as claimed. The
 * caller must then hand it to that host.
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

/** State of a session that refused a call, and of its project. */
type CallRefusal = RefusingSession & {
  openCalls: number;
  projectCalls: number;
  projectMost: number;
};

/** Returns the reasons for which a session may have refused a call; undefined if the session does not exist. */
export const findRefusal = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
  usualQueued: number,
): Promise<CallRefusal | undefined> =>
  (await db.query<CallRefusal>(refusalStatement, { sessionId, projectId, usualQueued }))[0];

/** Returns true if an open session refused the call because of its project's quota. */
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

/** Returns the call that an earlier request with this `Idempotency-Key` enqueued in the session. */
export const findCallByKey = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
  key: string,
): Promise<CallRow | undefined> =>
  (await db.query<CallRow>(findByKeyStatement, { sessionId, projectId, key }))[0];

/** Members of a call that lists include on request. */
export const callFields = ['input', 'output', 'details'] as const;
export type CallField = (typeof callFields)[number];

/** Call in a list; members that were not requested, or did not fit on the page, are null. */
export type ListedCall = Omit<CallRow, 'inputJson' | 'changesJson' | 'requestHash'> & {
  inputJson: string | null;
  changesJson: string | null;
  /** True if its members fit on the page. */
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

/** Computes the short form of an error, because earlier releases stored none. */
const withShortError = (row: ListedCall): ListedCall => ({
  ...row,
  errorJson: row.errorJson === null ? null : shortErrorJson(JSON.parse(row.errorJson)),
});

/** Lists a page of a session's calls, oldest first; returns undefined if the project has no such session. */
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
