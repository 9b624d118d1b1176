/** Queries about sessions, and changes that concern nothing but a session. */
import { AppError } from '#domain/error.ts';
import type { Verdict } from '#domain/grade.ts';
import { isId } from '#domain/id.ts';
import { limits } from '#domain/limits.ts';
import type { RunFilter, SessionState } from '#domain/session.ts';
import { type Queryable, replannedStatement, statement } from '../core/database.ts';
import { type Count, type CountRow, countOf, type Read, toCount, toRead } from '../core/lists.ts';
import { finalSessionStates, openSessionStates } from '../core/states.ts';
import { type SessionRow, sessionColumns } from './session-row.ts';

const selectSession = `select ${sessionColumns()}
  from sessions s left join hosts h on h.id = s.host_id`;

const findSessionStatement = statement(
  'find_session',
  `${selectSession} where s.id = $1 and s.project_id = $2`,
);

export const findSession = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
): Promise<SessionRow | undefined> =>
  (await db.query<SessionRow>(findSessionStatement, [sessionId, projectId]))[0];

const findTaskStatement = statement(
  'find_session_task',
  'select task::text as "taskJson" from sessions where id = $1',
);

/** Returns the spec of a session's task as JSON text; null if the session has no task. */
export const findSessionTask = async (db: Queryable, sessionId: string): Promise<string | null> =>
  (await db.query<{ taskJson: string | null }>(findTaskStatement, [sessionId]))[0]?.taskJson ??
  null;

/** Builds the error for a session that does not exist in the project. */
export const noSession = (sessionId: string): AppError =>
  new AppError('not_found', `there is no session "${sessionId}"`);

const findServedStatement = statement(
  'find_served_project',
  'select project_id as "projectId" from sessions where id = $1 and host_id = $2 and closed_at is null',
);

/** Returns the project of a session if this host serves the session; otherwise undefined. */
export const findServedProject = async (
  db: Queryable,
  hostId: string,
  sessionId: string,
): Promise<string | undefined> =>
  (await db.query<{ projectId: string }>(findServedStatement, [sessionId, hostId]))[0]?.projectId;

const findTokenOriginStatement = statement(
  'find_token_origin',
  'select project_id as "projectId", created_at as "createdAt", secret_mark as "secretMark" from sessions where id = $1',
);

/** Project of a session, and the values from which the session's token is derived. */
export type TokenHolder = Pick<SessionRow, 'projectId' | 'createdAt' | 'secretMark'>;

/**
 * Returns the project of a session and the values from which its token is derived. The session may be of any project.
 * Returns undefined if there is none with this id.
 */
export const findTokenOrigin = async (
  db: Queryable,
  sessionId: string,
): Promise<TokenHolder | undefined> =>
  (await db.query<TokenHolder>(findTokenOriginStatement, [sessionId]))[0];

const findByKeyStatement = statement(
  'find_session_by_key',
  `${selectSession} where s.project_id = $1 and s.idempotency_key = $2`,
);

/** Returns the session that an earlier request with this `Idempotency-Key` opened; undefined if there is none. */
export const findSessionByKey = async (
  db: Queryable,
  projectId: string,
  key: string,
): Promise<SessionRow | undefined> =>
  (await db.query<SessionRow>(findByKeyStatement, [projectId, key]))[0];

/**
 * Session as lists show it, with the slug of its world. The instruction is included if it is requested and the page has
 * not reached its byte limit. The length of the instruction is always included.
 */
export type ListedSession = SessionRow & {
  slug: string;
  instructionBytes: number;
  /** Time of creation in microseconds since 1970, with the full precision of the database. */
  createdAtUs: number;
};

/** Cursor into the list: the page starts after this session and continues with older sessions. */
export type SessionPosition = Pick<ListedSession, 'createdAtUs' | 'id'>;

export type SessionFilter = {
  state?: SessionState;
  world?: string;
  /** Verdict of the session's last grade. */
  verdict?: Verdict;
  /** Name of a task, or id of a stored task. */
  task?: string;
  /** Id or hash of an agent build. */
  build?: string;
  /** Id of a run. Only the sessions of this run are listed. */
  run?: string;
  /** Filter for sessions of runs. If it is absent, such sessions are left out, unless `run` is given. */
  runs?: RunFilter;
};

// Ended sessions are found by their final state, in an index; others are few.
const matching = `(:state::text is null
    or case when :state in ${finalSessionStates} then s.final_state = :state
            else s.closed_at is null and s.state = :state end)
  and (:worldId::text is null or s.world_id = :worldId)
  and (:verdict::text is null or s.verdict = :verdict)
  and (:taskName::text is null or s.task_name = :taskName)
  and (:taskId::text is null or s.task_id = :taskId)
  and (:buildId::text is null or s.build_id = :buildId)`;
const isUnfiltered = ['state', 'worldId', 'verdict', 'taskName', 'taskId', 'buildId']
  .map((name) => `:${name}::text is null`)
  .join(' and ');

// Each has its own text, so that the plan can use the matching index.
const ofRuns: Record<RunFilter | 'named', string> = {
  exclude: 's.run_id is null and s.dataset_run_id is null',
  include: 'true',
  only: '(s.run_id is not null or s.dataset_run_id is not null)',
  named: `(s.run_id is not null or s.dataset_run_id is not null or s.agent_run_id is not null)
          and coalesce(s.run_id, s.dataset_run_id, s.agent_run_id) = :run::text`,
};
type OfRuns = keyof typeof ofRuns;

// The world is looked up first: only with its id as a value can the planner estimate the number of its sessions.
const findWorldStatement = statement(
  'find_filtered_world',
  'select id from worlds where project_id = $1 and (slug = $2 or id = $2)',
);

/** Returns the id of the world that a filter names. For an unknown world, returns an id that no world has. */
const findFiltered = async (db: Queryable, projectId: string, world: string): Promise<string> =>
  (await db.query<{ id: string }>(findWorldStatement, [projectId, world]))[0]?.id ?? '';

const findBuildStatement = statement(
  'find_filtered_build',
  'select id from agent_builds where project_id = $1 and (build_hash = $2 or id = $2)',
);

/** Returns the id of the agent build that a filter names. For an unknown build, returns an id that no build has. */
const findFilteredBuild = async (
  db: Queryable,
  projectId: string,
  build: string,
): Promise<string> =>
  (await db.query<{ id: string }>(findBuildStatement, [projectId, build]))[0]?.id ?? '';

/** Returns the parameters of the list statements for a filter. */
const valuesOf = async (db: Queryable, projectId: string, filter: SessionFilter) => {
  const { state = null, verdict = null, world, task, build } = filter;
  const isStored = task !== undefined && isId('tsk', task);
  return {
    ...{ projectId, state, verdict },
    worldId: world === undefined ? null : await findFiltered(db, projectId, world),
    buildId: build === undefined ? null : await findFilteredBuild(db, projectId, build),
    taskId: isStored ? task : null,
    taskName: isStored ? null : (task ?? null),
  };
};

// The cursor is never null, so that the index finds its position.
const following = `(s.created_at, s.id) <
  (coalesce(timestamptz 'epoch' + :fromUs::float8 * interval '1 microsecond', 'infinity'), :fromId::text)`;

// The window has the order of the page, so instructions are read up to the byte limit of the page.
const pagedInstruction = `case
  when :withInstruction and (row_number() over newest = 1
            or sum(octet_length(s.instruction)) over newest <= :mostBytes::bigint)
  then s.instruction end`;

const listStatement = (of: OfRuns) =>
  replannedStatement(
    `list_sessions_${of}`,
    `select (select coalesce(w.former_slug, w.slug) from worlds w where w.id = s.world_id) as slug,
          ${sessionColumns({ instruction: pagedInstruction })},
          case when :withInstruction then coalesce(octet_length(s.instruction), 0) else 0 end as "instructionBytes",
          (extract(epoch from s.created_at) * 1000000)::float8 as "createdAtUs"
     from (select * from sessions s
            where s.project_id = :projectId and ${ofRuns[of]} and ${following} and ${matching}
            order by s.created_at desc, s.id desc limit :limit offset :offset) s
     left join hosts h on h.id = s.host_id
   window newest as (order by s.created_at desc, s.id desc)
    order by s.created_at desc, s.id desc`,
  );

/** Statements for a page of sessions, by the filter for sessions of runs; `named` lists those of a single run. */
export const listSessionsStatements = {
  exclude: listStatement('exclude'),
  include: listStatement('include'),
  only: listStatement('only'),
  named: listStatement('named'),
};

const countStatement = (of: OfRuns) =>
  countOf({
    name: `count_sessions_${of}`,
    from: `sessions s where s.project_id = :projectId and ${ofRuns[of]}`,
    order: 's.created_at desc, s.id desc',
    matching,
    isAll: isUnfiltered,
  });

const countStatements = {
  exclude: countStatement('exclude'),
  include: countStatement('include'),
  only: countStatement('only'),
  named: countStatement('named'),
};

export type SessionPage = {
  limit: number;
  offset: number;
  from: SessionPosition | undefined;
  withInstruction: boolean;
};

/** Lists a page of the project's sessions, newest first, and counts the matching sessions. */
export const listSessions = async (
  db: Queryable,
  projectId: string,
  filter: SessionFilter,
  { limit, offset, from, withInstruction }: SessionPage,
): Promise<Read<ListedSession> & { count: Count }> => {
  // Most sessions of a build belong to runs, so a filter by build includes them.
  const { run, build, runs = build === undefined ? 'exclude' : 'include' } = filter;
  const of = run === undefined ? runs : 'named';
  const values = {
    ...(await valuesOf(db, projectId, filter)),
    ...(run === undefined ? {} : { run }),
  };
  const [rows, [counted]] = await Promise.all([
    db.query<ListedSession>(listSessionsStatements[of], {
      ...values,
      limit: limit + 1,
      offset,
      withInstruction,
      mostBytes: limits.pageBytes,
      fromUs: from?.createdAtUs ?? null,
      fromId: from?.id ?? '',
    }),
    db.query<CountRow>(countStatements[of], values),
  ]);
  return { ...toRead(rows, limit), count: toCount(counted) };
};

const pinStatement = statement(
  'pin_session',
  `update sessions set pinned = :pinned
    where id = :sessionId and project_id = :projectId and state in ${openSessionStates} returning id`,
);

/**
 * Pins or unpins a session. Returns false if the project has no open session with this id. A closing session cannot be
 * pinned, so that a pin that was confirmed is always effective.
 */
export const pinSession = async (
  db: Queryable,
  projectId: string,
  sessionId: string,
  pinned: boolean,
): Promise<boolean> => (await db.query(pinStatement, { sessionId, projectId, pinned })).length > 0;

const touchStatement = statement(
  'touch_session',
  `update sessions
      set last_activity_at =
            greatest(last_activity_at, now() - :idleMs * interval '1 millisecond')
    where id = :sessionId and host_id = :hostId and generation = :generation`,
);

/** Records activity that a host reported: the session's API surface was last used `idleMs` milliseconds ago. */
export const noteActivity = async (
  db: Queryable,
  session: { sessionId: string; hostId: string; generation: number },
  idleMs: number,
): Promise<void> => {
  await db.query(touchStatement, { ...session, idleMs });
};
