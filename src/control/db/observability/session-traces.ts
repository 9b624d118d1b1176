/**
 * What is to be told of sessions in their traces: taken many at a time by whoever locks it first, and deleted by the
 * transaction that tells it. Bodies are read up to a bound.
 */
import type { CallError, CallKind, CallState } from '#domain/call.ts';
import type { LedgerWay } from '#domain/ledger.ts';
import type { EndReason, SessionState } from '#domain/session.ts';
import { type Queryable, statement } from '../core/database.ts';
import { keysOf, rowsOf } from '../core/parameters.ts';
import type { SessionError } from '../sessions/ended-session.ts';
import { keyOf } from './trace-keys.ts';

/** Something to be told of a session. */
export type TraceDue = {
  id: string;
  sessionId: string;
  /** The session itself: that it was opened, or has ended. */
  tellsSession: boolean;
  /** Entries of its ledger, by their numbers; null: none. */
  fromId: number | null;
  toId: number | null;
  /** A call that graded the session; null: none. */
  callId: string | null;
  bytes: number;
  attempts: number;
};

const takeStatement = statement(
  'take_trace_dues',
  `select id::text, session_id as "sessionId", tells_session as "tellsSession", from_id as "fromId",
          to_id as "toId", call_id as "callId", bytes, attempts
     from trace_dues where not_before <= now() order by id limit $1 for update skip locked`,
);

/** Locks what has waited longest, for the transaction to tell it. */
export const takeDues = (tx: Queryable, most: number): Promise<TraceDue[]> =>
  tx.query<TraceDue>(takeStatement, [most]);

const deleteStatement = statement(
  'delete_trace_dues',
  'delete from trace_dues where id = any($1::bigint[])',
);

export const deleteDues = async (tx: Queryable, ids: readonly string[]): Promise<void> => {
  await tx.query(deleteStatement, [ids]);
};

const postponeStatement = statement(
  'postpone_trace_due',
  `update trace_dues set attempts = attempts + 1,
          not_before = now() + least(3600, power(2, attempts)) * interval '1 second'
    where id = $1`,
);

/** Leaves for later what could not be told. */
export const postponeDue = async (tx: Queryable, id: string): Promise<void> => {
  await tx.query(postponeStatement, [id]);
};

/** An entry of a session's ledger. */
export type EntryName = { sessionId: string; id: number };

const againStatement = statement(
  'tell_entries_again',
  `insert into trace_dues (session_id, tells_session, from_id, to_id, bytes, not_before)
   select session_id, false, id, id, 0, now() + interval '300 milliseconds'
     from ${rowsOf(':sessionIds::text[], :ids::int[]')} as given(session_id, id)`,
);

/** Has entries told a little later. */
export const tellAgain = async (tx: Queryable, entries: readonly EntryName[]): Promise<void> => {
  if (entries.length === 0) return;
  const sessionIds = entries.map(({ sessionId }) => sessionId);
  await tx.query(againStatement, { sessionIds, ids: entries.map(({ id }) => id) });
};

/** A session as its trace tells of it. */
export type ToldSession = {
  id: string;
  projectId: string;
  traceId: string;
  traceParentId: string | null;
  traceSessionId: string | null;
  slug: string;
  versionId: string;
  taskName: string | null;
  taskId: string | null;
  /** The build that it is a rollout of; null: of none. */
  buildHash: string | null;
  buildVersion: string | null;
  instruction: string | null;
  state: SessionState;
  endReason: EndReason | null;
  error: SessionError | null;
  createdAt: Date;
  readyAt: Date | null;
  closedAt: Date | null;
  /** Whether something of it was told before. */
  isTold: boolean;
  /** Whether nothing more is to be told. */
  isOver: boolean;
};

/** Characters of an instruction, and of each text beside what was asked and answered. */
const longestText = 16_000;

const sessionsStatement = statement(
  'find_told_sessions',
  `select s.id, s.project_id as "projectId", s.trace_id as "traceId", s.trace_parent_id as "traceParentId",
          s.trace_session_id as "traceSessionId", w.slug, s.version_id as "versionId", s.task_name as "taskName",
          s.task_id as "taskId", b.build_hash as "buildHash", b.semantic_ver as "buildVersion", left(s.instruction, ${longestText}) as instruction, s.state,
          s.end_reason as "endReason", s.error, s.created_at as "createdAt",
          s.ready_at as "readyAt", s.closed_at as "closedAt", t.session_id is not null as "isTold",
          coalesce(t.is_over, false) as "isOver"
     from sessions s join worlds w on w.id = s.world_id left join told_sessions t on t.session_id = s.id
     left join agent_builds b on b.id = s.build_id
    where s.id = any($1::text[]) and s.trace_id is not null`,
);

/** Those of the sessions that are told in a trace. */
export const findToldSessions = (tx: Queryable, ids: readonly string[]): Promise<ToldSession[]> =>
  tx.query<ToldSession>(sessionsStatement, [ids]);

/** What a call that has ended adds to its entry, and tells of itself where there is none. */
export type ToldCall = {
  callId: string;
  callKind: CallKind;
  callName: string | null;
  callState: CallState;
  queuedAt: Date;
  answeredAt: Date | null;
  traceParent: string | null;
};

/** An entry of a ledger, with its call, if it is that of one. */
export type ToldEntry = {
  sessionId: string;
  id: number;
  at: Date;
  via: LedgerWay;
  operation: string | null;
  method: string | null;
  path: string | null;
  status: number | null;
  durationMs: number;
  /** JSON text; null where it is too long, which `requestStart` then begins. */
  request: string | null;
  requestStart: string | null;
  requestBytes: number;
  response: string | null;
  responseStart: string | null;
  responseBytes: number;
  changes: string;
  /** What a grade answered, as JSON text. */
  gradeJson: string | null;
} & ({ [Name in keyof ToldCall]: ToldCall[Name] } | { [Name in keyof ToldCall]: null });

/** Bytes of what was asked or answered that are told whole; of more it is the beginning. */
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

/** The entries that dues name, as far as they are still there. */
export const findToldEntries = async (
  tx: Queryable,
  dues: readonly TraceDue[],
): Promise<ToldEntry[]> => {
  const named = dues.filter(({ fromId }) => fromId !== null);
  if (named.length === 0) return [];
  return tx.query<ToldEntry>(entriesStatement, {
    sessionIds: named.map(({ sessionId }) => sessionId),
    fromIds: named.map(({ fromId }) => fromId),
    toIds: named.map(({ toId }) => toId),
  });
};

/** Of one session, as many calls can wait; of those that were answered, the first so many are told. */
const mostUnwritten = 1_000;

const unwrittenStatement = statement(
  'find_unwritten_calls',
  `select c.session_id as "sessionId", c.seq, c.error, ${callColumns} from calls c
    where c.session_id = any($1::text[])
      and (c.state in ('lost', 'cancelled') or c.state in ('succeeded', 'failed') and c.session_id = any($2::text[]))
      and not exists (select from requests r where r.session_id = c.session_id and r.call_id = c.id)
    order by c.session_id, c.seq limit ${mostUnwritten}`,
);

export type UnwrittenCall = ToldCall & {
  sessionId: string;
  seq: number;
  /** Why, as the service says it. */
  error: CallError | null;
};

/**
 * Calls of sessions that have ended which no host has written down: nobody took them, or their host was lost. Of the
 * sessions of `failedIds` also those that were answered, as a host may be lost between its answer and its ledger.
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

/** A call that graded its session; `gradeJson` is null where it failed. */
export type GradeCall = UnwrittenCall & { gradeJson: string | null };

/** The calls that dues name. */
export const findGradeCalls = async (
  tx: Queryable,
  dues: readonly TraceDue[],
): Promise<GradeCall[]> => {
  const ids = dues.flatMap(({ callId }) => callId ?? []);
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

/** A grade that was answered; `gradeJson` is its JSON text. */
export type LostGrade = { sessionId: string; callId: string; answeredAt: Date; gradeJson: string };

/** The last grades of sessions that have ended, where the entry of one was lost with its host. */
export const findLostGrades = async (
  tx: Queryable,
  sessionIds: readonly string[],
): Promise<LostGrade[]> =>
  sessionIds.length === 0 ? [] : tx.query<LostGrade>(lostGradesStatement, [sessionIds]);

const lockStatement = statement(
  'lock_told_traces',
  'select key from traces where key = any($1::uuid[]) order by key for update',
);

/** Locks traces of a project, in the order in which they are written; answers those of the ids that are there. */
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

/** Notes that something of these sessions was told. */
export const noteTold = async (tx: Queryable, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0) await tx.query(noteStatement, [ids]);
};

const overStatement = statement(
  'end_told_sessions',
  'update told_sessions set is_over = true where session_id = any($1::text[]) and not is_over',
);

/** Notes that nothing more is told of these: somebody has deleted their traces. */
export const endTold = async (tx: Queryable, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0) await tx.query(overStatement, [ids]);
};

const dropScoresStatement = statement(
  'drop_former_scores',
  `delete from scores s using unnest($1::uuid[], $2::text[], $3::bigint[]) as given(trace_key, prefix, said_at)
    where s.trace_key = given.trace_key and starts_with(s.id, given.prefix) and s.said_at < given.said_at`,
);

/** Drops what former grades said: scores of a trace whose ids begin so, said before a time in microseconds. */
export const dropFormerScores = async (
  tx: Queryable,
  projectId: string,
  graded: readonly { traceId: string; prefix: string; saidAt: number }[],
): Promise<void> => {
  if (graded.length === 0) return;
  await tx.query(dropScoresStatement, [
    graded.map(({ traceId }) => keyOf(projectId, traceId)),
    graded.map(({ prefix }) => prefix),
    graded.map(({ saidAt }) => saidAt),
  ]);
};

/** How much waits to be told. */
export type TraceDueLoad = { waiting: number; oldestSeconds: number };

/** Counted up to here. */
const mostCounted = 10_000;

const loadStatement = statement(
  'trace_due_load',
  `select count(*)::int as waiting, coalesce(extract(epoch from now() - min(queued_at)), 0)::float8 as "oldestSeconds"
     from (select queued_at from trace_dues order by id limit ${mostCounted}) due`,
);

export const readTraceDueLoad = async (db: Queryable): Promise<TraceDueLoad> => {
  const [load] = await db.query<TraceDueLoad>(loadStatement, []);
  return load ?? { waiting: 0, oldestSeconds: 0 };
};
