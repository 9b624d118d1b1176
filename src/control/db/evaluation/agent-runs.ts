/**
 * Runs (rollout groups) of agent builds. The progress of a run is counted from its sessions each time the run is read.
 */
import { idleHours, type RunProgress } from '#domain/release.ts';
import { type Queryable, replannedStatement, statement } from '../core/database.ts';
import { type Count, type NumberedPage, numberedValues, type Read, toRead } from '../core/lists.ts';
import { countUpTo } from '../core/where.ts';

export type RunRow = RunProgress & {
  id: string;
  buildId: string;
  buildHash: string;
  agentId: string;
  model: string | null;
  sessions: number;
  /** Slugs of the worlds, sorted. */
  worlds: string[];
  /** Ids of up to three sessions that ended without a grade. */
  examples: string[];
  createdAt: Date;
  finishedAt: Date | null;
  /** Number in the order in which runs began: a higher number is later. */
  number: number;
};

/** Maximum number of runs of one build. */
export const mostRuns = 1_000;

const joinStatement = statement(
  'join_agent_run',
  `with build as (
     select id from agent_builds where project_id = :projectId and build_hash = :buildHash
   ), run as (
     insert into agent_runs as r (project_id, id, build_id, model, planned)
     select :projectId, :runId, build.id, :model, :planned::integer from build
      where exists (select from agent_runs where project_id = :projectId and id = :runId)
         or (select count(*) from agent_runs o where o.build_id = build.id) < ${mostRuns}
     on conflict (project_id, id) do update
        set last_opened_at = now(), model = coalesce(r.model, excluded.model),
            planned = coalesce(r.planned, excluded.planned)
      where r.build_id = excluded.build_id and r.finished_at is null
        and coalesce(r.model = excluded.model, true) and coalesce(r.planned = excluded.planned, true)
     returning r.id
   ), rollout as (
     insert into agent_rollouts (session_id, project_id, run_id)
     select :sessionId, :projectId, run.id from run
   )
   select (select id from build) as "buildId", exists (select from run) as "isTaken"`,
);

export type NewRollout = {
  projectId: string;
  sessionId: string;
  runId: string;
  buildHash: string;
  model: string | null;
  planned: number | null;
};

/**
 * Adds a session to a run; creates the run if it does not exist. Returns the id of the build (null if the build does
 * not exist) and `isTaken`, which is true if the run accepted the session. If it is false, nothing was written.
 */
export const joinRun = async (
  db: Queryable,
  rollout: NewRollout,
): Promise<{ buildId: string | null; isTaken: boolean }> => {
  const [row] = await db.query<{ buildId: string | null; isTaken: boolean }>(
    joinStatement,
    rollout,
  );
  return row ?? { buildId: null, isTaken: false };
};

const leaveStatement = statement(
  'leave_agent_run',
  'delete from agent_rollouts where session_id = $1',
);

/** Removes a session that could not be opened from its run. */
export const leaveRun = async (db: Queryable, sessionId: string): Promise<void> => {
  await db.query(leaveStatement, [sessionId]);
};

const findDeclaredStatement = statement(
  'find_declared_agent_run',
  `select b.build_hash as "buildHash", r.model, r.planned, r.finished_at as "finishedAt"
     from agent_runs r join agent_builds b on b.id = r.build_id
    where r.project_id = $1 and r.id = $2`,
);

export type DeclaredRun = Pick<RunRow, 'buildHash' | 'model' | 'planned' | 'finishedAt'>;

/** Returns the parameters with which a run was created; undefined if there is no such run. */
export const findDeclaredRun = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<DeclaredRun | undefined> =>
  (await db.query<DeclaredRun>(findDeclaredStatement, [projectId, id]))[0];

const finishStatement = statement(
  'finish_agent_run',
  `update agent_runs set finished_at = coalesce(finished_at, now())
    where project_id = $1 and id = $2 returning id`,
);

/** Marks a run as finished, so that it accepts no further sessions. Returns false if there is no run with this id. */
export const finishRun = async (db: Queryable, projectId: string, id: string): Promise<boolean> =>
  (await db.query(finishStatement, [projectId, id])).length > 0;

// JSON functions of PostgreSQL fail on some of the JSON in user data, so a pattern reads the verdict; hosts write it
// first.
const verdict = `substring(c.output::text from '^\\s*\\{\\s*"verdict"\\s*:\\s*"([a-z]+)"')`;

/** SQL for the progress of a run. A session counts with its last grade. */
const progress = `select count(*)::int as sessions,
       count(*) filter (where grade.is_judged)::int as graded,
       count(*) filter (where grade.verdict = 'pass')::int as passed,
       count(*) filter (where not grade.is_judged and s.closed_at is null)::int as going,
       count(*) filter (where not grade.is_judged and s.closed_at is not null)::int as ungraded,
       (array_agg(s.id order by s.id) filter (where not grade.is_judged and s.closed_at is not null))[1:3]
         as examples,
       array_agg(distinct coalesce(w.former_slug, w.slug)) as worlds, max(s.closed_at) as closed_at
  from agent_rollouts a
  join sessions s on s.id = a.session_id
  join worlds w on w.id = s.world_id
 cross join lateral (
   select found.verdict, coalesce(found.verdict in ('pass', 'fail'), false) as is_judged
     from (select 1) one
     left join lateral (
       select ${verdict} as verdict from calls c
        where c.session_id = s.id and c.kind = 'grade' and c.state = 'succeeded'
        order by c.seq desc limit 1) found on true) grade
 where a.project_id = r.project_id and a.run_id = r.id`;

const columns = `r.id, r.build_id as "buildId", b.build_hash as "buildHash", b.agent_id as "agentId",
  r.model, r.planned, r.finished_at is not null as "isFinished",
  greatest(r.last_opened_at, p.closed_at) < now() - interval '${idleHours} hours' as "isIdle",
  p.graded, p.passed, p.going, p.ungraded, p.sessions, coalesce(p.examples, '{}') as examples, p.worlds,
  r.created_at as "createdAt", r.finished_at as "finishedAt",
  r.number::float8 as number`;

/** Condition that a run has a session. If the first session of a run was refused, the run has none yet. */
const begun = `exists (select from agent_rollouts a join sessions s on s.id = a.session_id
                        where a.project_id = r.project_id and a.run_id = r.id)`;

/** Builds the query for runs. Progress is counted only for the runs that the inner query finds. */
const select = (runs: string): string =>
  `select ${columns}
     from (select r.* from agent_runs r where ${begun} and ${runs}) r
     join agent_builds b on b.id = r.build_id
    cross join lateral (${progress}) p
    order by r.number desc`;

const findStatement = statement('find_agent_run', select('r.project_id = $1 and r.id = $2'));

/** Returns a run; undefined if there is no such run or the run has no session yet. */
export const findRun = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<RunRow | undefined> => (await db.query<RunRow>(findStatement, [projectId, id]))[0];

const listStatement = (name: string, where: string) =>
  replannedStatement(
    name,
    select(
      `${where} and r.number < :fromNumber::bigint order by r.number desc limit :limit offset :offset`,
    ),
  );
export const listRunsStatement = listStatement('list_agent_runs', 'r.project_id = :projectId');
export const listRunsOfBuildStatement = listStatement(
  'list_runs_of_agent_build',
  'r.project_id = :projectId and r.build_id = :buildId',
);

/** Lists a page of runs, newest first, and counts the matching runs. */
export const listRuns = async (
  db: Queryable,
  projectId: string,
  buildId: string | undefined,
  page: NumberedPage,
): Promise<Read<RunRow> & { count: Count }> => {
  const values = { projectId, ...numberedValues(page) };
  const isAll = buildId === undefined;
  const [rows, count] = await Promise.all([
    isAll
      ? db.query<RunRow>(listRunsStatement, values)
      : db.query<RunRow>(listRunsOfBuildStatement, { ...values, buildId }),
    countUpTo(db, 'count_agent_runs', 'agent_runs r', [
      () => begun,
      (bind) => `r.project_id = ${bind(projectId)}`,
      ...(isAll ? [] : [(bind: (value: unknown) => string) => `r.build_id = ${bind(buildId)}`]),
    ]),
  ]);
  return { ...toRead(rows, page.limit), count };
};

const ofCommitStatement = statement(
  'list_runs_for_gate',
  select(`r.project_id = :projectId and r.build_id in (
     select :buildId union
     select o.id from agent_builds o
      where o.project_id = :projectId and o.agent_id = :agentId and o.commit_sha = :commitSha)`),
);

/**
 * Lists all runs of a build, and of other builds of the same agent that were made from the same commit, newest first.
 */
export const listRunsForGate = (
  db: Queryable,
  projectId: string,
  build: { id: string; agentId: string; commitSha: string | null },
): Promise<RunRow[]> => {
  const { id: buildId, agentId, commitSha } = build;
  return db.query<RunRow>(ofCommitStatement, { projectId, buildId, agentId, commitSha });
};
