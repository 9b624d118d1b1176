/**
 * Reads the data that dashboards show: the sessions of tasks or of a world with their grades, and one session with its
 * calls and requests.
 */
import { type Queryable, statement } from '../core/database.ts';
import { gradeColumns, lastGrade } from '../sessions/last-grade.ts';

/**
 * Maximum numbers of calls and requests of one session, and of sessions of a task set or a world, that are read. The
 * newest ones are read.
 */
export const mostShown = { calls: 1_000, requests: 2_000, sessions: 1_000 } as const;

export type ShownSession = {
  id: string;
  taskId: string | null;
  task: string | null;
  world: string;
  state: string;
  endReason: string | null;
  createdAt: Date;
  readyAt: Date | null;
  closedAt: Date | null;
  gradedAt: Date | null;
  calls: number;
  /** Verdict of the last grade; null if the session was not graded. */
  verdict: string | null;
  score: number | null;
};

const sessionColumns = `s.id, s.task_id as "taskId", s.task_name as task, coalesce(w.former_slug, w.slug) as world,
  s.state, s.end_reason as "endReason", s.created_at as "createdAt", s.ready_at as "readyAt",
  s.closed_at as "closedAt", g.answered_at as "gradedAt", s.last_seq as calls,
  ${gradeColumns}`;

const shown = (where: string): string =>
  `select ${sessionColumns}
     from (select * from sessions s where s.project_id = $1 and s.run_id is null and ${where}
            order by s.created_at desc, s.id desc limit ${mostShown.sessions + 1}) s
     join worlds w on w.id = s.world_id ${lastGrade}
    order by s.created_at desc, s.id desc`;

const ofTasksStatement = statement('show_sessions_of_tasks', shown('s.task_id = any($2::text[])'));
const ofWorldStatement = statement('show_sessions_of_world', shown('s.world_id = $2'));

/** Lists the sessions that were opened with these stored tasks, newest first, up to one more than dashboards show. */
export const showSessionsOfTasks = (
  db: Queryable,
  projectId: string,
  taskIds: readonly string[],
): Promise<ShownSession[]> => db.query<ShownSession>(ofTasksStatement, [projectId, taskIds]);

/** Lists the sessions of a world, newest first, up to one more than dashboards show. */
export const showSessionsOfWorld = (
  db: Queryable,
  projectId: string,
  worldId: string,
): Promise<ShownSession[]> => db.query<ShownSession>(ofWorldStatement, [projectId, worldId]);

const tasksStatement = statement(
  'show_tasks',
  `select t.id, t.name, coalesce(w.former_slug, w.slug) as world from world_tasks t join worlds w on w.id = t.world_id
    where t.project_id = $1 and t.id = any($2::text[])`,
);

export type ShownTask = { id: string; name: string | null; world: string };

/** Returns stored tasks by their ids, unordered. */
export const showTasks = (
  db: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<ShownTask[]> => db.query<ShownTask>(tasksStatement, [projectId, ids]);

const newestStatement = statement(
  'find_newest_session',
  `select id from sessions where project_id = $1 and run_id is null order by created_at desc, id desc limit 1`,
);

/** Returns the id of the project's newest session; undefined if there is none. */
export const findNewestSession = async (
  db: Queryable,
  projectId: string,
): Promise<string | undefined> =>
  (await db.query<{ id: string }>(newestStatement, [projectId]))[0]?.id;

const sessionStatement = statement(
  'show_session',
  `select ${sessionColumns}, s.task_form as "taskForm", s.task_version as "taskVersion", s.instruction,
          s.version_id as "versionId", s.trace_id as "traceId"
     from sessions s join worlds w on w.id = s.world_id ${lastGrade}
    where s.project_id = $1 and s.id = $2`,
);

export type ShownSessionDetail = ShownSession & {
  taskForm: string | null;
  taskVersion: number | null;
  instruction: string | null;
  versionId: string;
  traceId: string | null;
};

/** Returns one session; undefined if there is none. */
export const showSession = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<ShownSessionDetail | undefined> =>
  (await db.query<ShownSessionDetail>(sessionStatement, [projectId, id]))[0];

/** Call as dashboards show it. Values without a fixed schema are JSON text. */
export type ShownCall = {
  seq: number;
  kind: string;
  name: string | null;
  state: string;
  queuedAt: Date;
  claimedAt: Date | null;
  answeredAt: Date | null;
  changesJson: string;
  errorJson: string | null;
};

const callsStatement = statement(
  'show_calls',
  `select seq, kind, name, state, queued_at as "queuedAt", claimed_at as "claimedAt", answered_at as "answeredAt",
          changes::text as "changesJson", coalesce(short_error, error)::text as "errorJson"
     from (select * from calls where session_id = $1 order by seq desc limit ${mostShown.calls}) c order by seq`,
);

/** Lists the latest calls of a session, oldest first. */
export const showCalls = (db: Queryable, sessionId: string): Promise<ShownCall[]> =>
  db.query<ShownCall>(callsStatement, [sessionId]);

const requestsStatement = statement(
  'show_requests',
  `select id, at, via, operation, method, path, status, changes::text as "changesJson"
     from (select * from requests where session_id = $1 order by id desc limit ${mostShown.requests}) r order by id`,
);

export type ShownRequest = {
  id: number;
  at: Date;
  via: string;
  operation: string | null;
  method: string | null;
  path: string | null;
  status: number | null;
  changesJson: string;
};

/** Lists the latest requests of a session, oldest first, without their bodies. */
export const showRequests = (db: Queryable, sessionId: string): Promise<ShownRequest[]> =>
  db.query<ShownRequest>(requestsStatement, [sessionId]);

const gradeStatement = statement(
  'show_grade',
  `select case when octet_length(c.output::text) <= $2::int then c.output::text end as "gradeJson"
     from calls c where c.session_id = $1 and c.kind = 'grade' and c.state = 'succeeded'
    order by c.seq desc limit 1`,
);

/**
 * Returns the last grade of a session as JSON text; null if the text exceeds `mostBytes`, undefined if the session was
 * not graded.
 */
export const showGrade = async (
  db: Queryable,
  sessionId: string,
  mostBytes: number,
): Promise<string | null | undefined> =>
  (await db.query<{ gradeJson: string | null }>(gradeStatement, [sessionId, mostBytes]))[0]
    ?.gradeJson;
