/**
 * Outbox for the traces of sessions. An entry names something that the control plane has not reported yet. A worker
 * locks many entries at a time, and deletes them in the same transaction that writes the traces. Request and response
 * bodies are read up to a maximum size.
 */
import type { CallError, CallKind, CallState } from '#domain/call.ts';
import type { LedgerOrigin } from '#domain/ledger.ts';
import type { EndReason, SessionState } from '#domain/session.ts';
import { type Queryable, statement } from '../core/database.ts';
import { keysOf, rowsOf } from '../core/parameters.ts';
import type { SessionError } from '../sessions/ended-session.ts';
import { keyOf } from './trace-keys.ts';

/** Entry of the outbox. It names a session, a range of the session's ledger, or a call to report. */
export type OutboxEntry = {
  id: string;
  sessionId: string;
  /** True if the entry is about the session itself, which was opened or has ended. */
  isAboutSession: boolean;
  /** Range of ledger entries by their numbers; null if there are none. */
  fromId: number | null;
  toId: number | null;
  /** Id of a call that graded the session; null if there is none. */
  callId: string | null;
  bytes: number;
  attempts: number;
};

const takeStatement = statement(
  'take_trace_dues',
  `select id::text, session_id as "sessionId", tells_session as "isAboutSession", from_id as "fromId",
          to_id as "toId", call_id as "callId", bytes, attempts
     from trace_dues where not_before <= now() order by id limit $1 for update skip locked`,
);

/** Locks the oldest outbox entries that are due, up to `most`, for this transaction. */
export const takeOutboxEntries = (tx: Queryable, most: number): Promise<OutboxEntry[]> =>
  tx.query<OutboxEntry>(takeStatement, [most]);

const deleteStatement = statement(
  'delete_trace_dues',
  'delete from trace_dues where id = any($1::bigint[])',
);

export const deleteOutboxEntries = async (tx: Queryable, ids: readonly string[]): Promise<void> => {
  await tx.query(deleteStatement, [ids]);
};

const postponeStatement = statement(
  'postpone_trace_due',
  `update trace_dues set attempts = attempts + 1,
          not_before = now() + least(3600, power(2, attempts)) * interval '1 second'
    where id = $1`,
);

/** Postpones an entry that could not be written. The delay grows exponentially, up to an hour. */
export const postponeOutboxEntry = async (tx: Queryable, id: string): Promise<void> => {
  await tx.query(postponeStatement, [id]);
};

/** Identity of an entry in a session's ledger. */
export type LedgerEntryKey = { sessionId: string; id: number };

const againStatement = statement(
  'tell_entries_again',
  `insert into trace_dues (session_id, tells_session, from_id, to_id, bytes, not_before)
   select session_id, false, id, id, 0, now() + interval '300 milliseconds'
     from ${rowsOf(':sessionIds::text[], :ids::int[]')} as given(session_id, id)`,
);

/** Adds ledger entries to the outbox again; they are due after 300 ms. */
export const requeueLedgerEntries = async (
  tx: Queryable,
  entries: readonly LedgerEntryKey[],
): Promise<void> => {
  if (entries.length === 0) return;
  const sessionIds = entries.map(({ sessionId }) => sessionId);
  await tx.query(againStatement, { sessionIds, ids: entries.map(({ id }) => id) });
};

/** Session with everything that its trace shows. */
export type TracedSession = {
  id: string;
  projectId: string;
  traceId: string;
  traceParentId: string | null;
  traceSessionId: string | null;
  slug: string;
  versionId: string;
  taskName: string | null;
  taskId: string | null;
  /** Hash of the agent build whose rollout the session is; null if there is none. */
  buildHash: string | null;
  buildVersion: string | null;
  instruction: string | null;
  state: SessionState;
  endReason: EndReason | null;
  error: SessionError | null;
  createdAt: Date;
  readyAt: Date | null;
  closedAt: Date | null;
  /** True if the session has been reported to its trace before. */
  isReported: boolean;
  /** True if the session is no longer reported, because a user deleted its trace. */
  isOver: boolean;
};

/** Maximum number of characters of an instruction, and of every other text except bodies. */
const longestText = 16_000;

const sessionsStatement = statement(
  'find_told_sessions',
  `select s.id, s.project_id as "projectId", s.trace_id as "traceId", s.trace_parent_id as "traceParentId",
          s.trace_session_id as "traceSessionId", w.slug, s.version_id as "versionId", s.task_name as "taskName",
          s.task_id as "taskId", b.build_hash as "buildHash", b.semantic_ver as "buildVersion", left(s.instruction, ${longestText}) as instruction, s.state,
          s.end_reason as "endReason", s.error, s.created_at as "createdAt",
          s.ready_at as "readyAt", s.closed_at as "closedAt", t.session_id is not null as "isReported",
          coalesce(t.is_over, false) as "isOver"
     from sessions s join worlds w on w.id = s.world_id left join told_sessions t on t.session_id = s.id
     left join agent_builds b on b.id = s.build_id
    where s.id = any($1::text[]) and s.trace_id is not null`,
);

/** Returns those of the sessions in `ids` that have a trace. */
export const findTracedSessions = (
  tx: Queryable,
  ids: readonly string[],
): Promise<TracedSession[]> => tx.query<TracedSession>(sessionsStatement, [ids]);

/** Columns of a call that has ended. They complete the call's ledger entry; if the host wrote none, they replace it. */
export type TracedCall = {
  callId: string;
  callKind: CallKind;
  callName: string | null;
  callState: CallState;
  queuedAt: Date;
  answeredAt: Date | null;
  traceParent: string | null;
};

/** Ledger entry, with the call if the entry belongs to one. */
export type TracedEntry = {
  sessionId: string;
  id: number;
  at: Date;
  via: LedgerOrigin;
  operation: string | null;
  method: string | null;
  path: string | null;
  status: number | null;
  durationMs: number;
  /** Request as JSON text; null if it is too long. In that case, `requestStart` contains its beginning. */
  request: string | null;
  requestStart: string | null;
  requestBytes: number;
  response: string | null;
  responseStart: string | null;
  responseBytes: number;
  changes: string;
  /** Result of a grade as JSON text; null if the call is no grade or has no result. */
  gradeJson: string | null;
} & ({ [Name in keyof TracedCall]: TracedCall[Name] } | { [Name in keyof TracedCall]: null });

/**
 * Maximum size of a request or response body that a trace shows completely, in bytes. Of a larger body it shows the
 * beginning.
 */
export const mostBodyBytes = 64 * 1024;
const startChars = 1_000;

const body = (name: string): string =>
  `case when octet_length(r.${name}::text) <= ${mostBodyBytes} then r.${name}::text end as ${name},
   case when octet_length(r.${name}::text) > ${mostBodyBytes} then left(r.${name}::text, ${startChars}) end as "${name}Start",
   octet_length(r.${name}::text) as "${name}Bytes"`;

const callColumns = `c.id as "callId", c.kind as "callKind", c.name as "callName", c.state as "callState",
  c.queued_at as "queuedAt", c.answered_at as "answeredAt", c.trace_parent as "traceParent"`;

const entriesStatement = statement(
  'find_told_entries',
  `select r.session_id as "sessionId", r.id, r.at, r.via, r.operation, r.method, r.path, r.status,
          r.duration_ms as "durationMs", ${body('request')}, ${body('response')}, r.changes::text,
          case when c.kind = 'grade' and c.state = 'succeeded' then c.output::text end as "gradeJson",
          ${callColumns}
     from ${keysOf(':sessionIds::text[], :fromIds::int[], :toIds::int[]')} as due(session_id, from_id, to_id)
     join requests r on r.session_id = due.session_id and r.id between due.from_id and due.to_id
     left join calls c on c.id = r.call_id and c.session_id = r.session_id
    order by r.session_id, r.id`,
);

/** Returns the ledger entries that outbox entries name. Entries that no longer exist are left out. */
export const findTracedEntries = async (
  tx: Queryable,
  outboxEntries: readonly OutboxEntry[],
): Promise<TracedEntry[]> => {
  const named = outboxEntries.filter(({ fromId }) => fromId !== null);
  if (named.length === 0) return [];
  return tx.query<TracedEntry>(entriesStatement, {
    sessionIds: named.map(({ sessionId }) => sessionId),
    fromIds: named.map(({ fromId }) => fromId),
    toIds: named.map(({ toId }) => toId),
  });
};

/**
 * Maximum number of calls without a ledger entry that are read at a time. It is the number of calls that can be queued
 * in one session. Of answered calls, only the first ones are written.
 */
const mostUnwritten = 1_000;

const unwrittenStatement = statement(
  'find_unwritten_calls',
  `select c.session_id as "sessionId", c.seq, c.error, ${callColumns} from calls c
    where c.session_id = any($1::text[])
      and (c.state in ('lost', 'cancelled') or c.state in ('succeeded', 'failed') and c.session_id = any($2::text[]))
      and not exists (select from requests r where r.session_id = c.session_id and r.call_id = c.id)
    order by c.session_id, c.seq limit ${mostUnwritten}`,
);

export type UnwrittenCall = TracedCall & {
  sessionId: string;
  seq: number;
  /** Error of the service that explains why the call ended; null if there is none. */
  error: CallError | null;
};

/**
 * Returns calls of ended sessions that have no ledger entry, because no host claimed them or their host was lost. For
 * the sessions in `failedIds`, answered calls are included, because a host can be lost after it answered and before it
 * sent its ledger.
 */
export const findUnwritten = async (
  tx: Queryable,
  sessionIds: readonly string[],
  failedIds: readonly string[],
): Promise<UnwrittenCall[]> =>
  sessionIds.length === 0
    ? []
    : tx.query<UnwrittenCall>(unwrittenStatement, [sessionIds, failedIds]);

const gradesStatement = statement(
  'find_told_grades',
  `select c.session_id as "sessionId", c.seq, c.error, ${callColumns},
          case when c.state = 'succeeded' then c.output::text end as "gradeJson"
     from calls c where c.id = any($1::text[]) order by c.session_id, c.seq`,
);

/** Call that graded its session. `gradeJson` is null if the call failed. */
export type GradeCall = UnwrittenCall & { gradeJson: string | null };

/** Returns the calls that outbox entries name. */
export const findGradeCalls = async (
  tx: Queryable,
  outboxEntries: readonly OutboxEntry[],
): Promise<GradeCall[]> => {
  const ids = outboxEntries.flatMap(({ callId }) => callId ?? []);
  return ids.length === 0 ? [] : tx.query<GradeCall>(gradesStatement, [ids]);
};

const lostGradesStatement = statement(
  'find_lost_grades',
  `select s.id as "sessionId", c.id as "callId", c.answered_at as "answeredAt", c.output::text as "gradeJson"
     from unnest($1::text[]) as s(id) cross join lateral (
       select * from calls c where c.session_id = s.id and c.kind = 'grade' and c.state = 'succeeded'
        order by c.seq desc limit 1) c
    where not exists (select from requests r where r.session_id = s.id and r.call_id = c.id)`,
);

/** Grade whose ledger entry is missing. `gradeJson` is its JSON text. */
export type LostGrade = { sessionId: string; callId: string; answeredAt: Date; gradeJson: string };

/** Returns the last grades of ended sessions, if the ledger entry of the grade was lost with the host. */
export const findLostGrades = async (
  tx: Queryable,
  sessionIds: readonly string[],
): Promise<LostGrade[]> =>
  sessionIds.length === 0 ? [] : tx.query<LostGrade>(lostGradesStatement, [sessionIds]);

const lockStatement = statement(
  'lock_told_traces',
  'select key from traces where key = any($1::uuid[]) order by key for update',
);

/** Locks traces of a project, in the order in which traces are written. Returns the ids of those that exist. */
export const lockTraces = async (
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<Set<string>> => {
  const keys = new Map(ids.map((id) => [keyOf(projectId, id), id]));
  const rows = await tx.query<{ key: string }>(lockStatement, [[...keys.keys()]]);
  return new Set(rows.map(({ key }) => keys.get(key.replaceAll('-', '')) ?? ''));
};

const noteStatement = statement(
  'note_told_sessions',
  `insert into told_sessions (session_id) select id from unnest($1::text[]) as given(id) order by id
   on conflict do nothing`,
);

/** Records that these sessions were reported. */
export const markReported = async (tx: Queryable, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0) await tx.query(noteStatement, [ids]);
};

const overStatement = statement(
  'end_told_sessions',
  'update told_sessions set is_over = true where session_id = any($1::text[]) and not is_over',
);

/** Ends the reports of these sessions, because a user deleted the traces. */
export const stopReporting = async (tx: Queryable, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0) await tx.query(overStatement, [ids]);
};

const dropScoresStatement = statement(
  'drop_former_scores',
  `delete from scores s using unnest($1::uuid[], $2::text[], $3::bigint[]) as given(trace_key, prefix, said_at)
    where s.trace_key = given.trace_key and starts_with(s.id, given.prefix) and s.said_at < given.said_at`,
);

/**
 * Deletes scores of earlier grades: those of the trace whose ids begin with `prefix` and that were reported before
 * `reportedAt`, in microseconds since 1970.
 */
export const dropFormerScores = async (
  tx: Queryable,
  projectId: string,
  graded: readonly { traceId: string; prefix: string; reportedAt: number }[],
): Promise<void> => {
  if (graded.length === 0) return;
  await tx.query(dropScoresStatement, [
    graded.map(({ traceId }) => keyOf(projectId, traceId)),
    graded.map(({ prefix }) => prefix),
    graded.map(({ reportedAt }) => reportedAt),
  ]);
};

/** Number of entries in the outbox, and the age of the oldest entry. */
export type OutboxLoad = { waiting: number; oldestSeconds: number };

/** Maximum number of entries that are counted. */
const mostCounted = 10_000;

const loadStatement = statement(
  'trace_due_load',
  `select count(*)::int as waiting, coalesce(extract(epoch from now() - min(queued_at)), 0)::float8 as "oldestSeconds"
     from (select queued_at from trace_dues order by id limit ${mostCounted}) due`,
);

export const readOutboxLoad = async (db: Queryable): Promise<OutboxLoad> => {
  const [load] = await db.query<OutboxLoad>(loadStatement, []);
  return load ?? { waiting: 0, oldestSeconds: 0 };
};
