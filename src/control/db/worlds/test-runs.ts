/**
 * Test runs: tests of worlds and proofs of tasks that the service runs. A claim is one conditional statement. It takes
 * the run that has waited longest, from the project with the fewest running runs. It also takes a run whose lease has
 * expired. Each write of a worker is conditional on the worker's lease. So a slow or disconnected worker changes
 * nothing.
 */
import { randomUUID } from 'node:crypto';
import { newId } from '#domain/id.ts';
import {
  type RunKind,
  type RunOrigin,
  type RunOutcome,
  type RunState,
  runLimits,
} from '#domain/run.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { settleGate } from './version-gates.ts';

export type RunError = { code: string; message: string };

export type RunRow = {
  id: string;
  projectId: string;
  worldId: string;
  slug: string;
  versionId: string;
  /** Number of the version that is tested. */
  number: number;
  kind: RunKind;
  origin: RunOrigin;
  /** Public key of the client that requested the run; null if it is not known. */
  author: string | null;
  /** Task with which the session of the run is opened, as JSON text; null if it has none. */
  taskJson: string | null;
  /** Input of the call that the run makes, as JSON text. */
  inputJson: string;
  state: RunState;
  /** Id of the current or last session of the run; null if it has had none. */
  sessionId: string | null;
  /** Number of sessions that the run has lost. */
  sessions: number;
  /** Number of claims that ended because of a fault of the service. */
  attempts: number;
  outcome: RunOutcome | null;
  /** Counts of the results, by name; null if the run has no result yet. */
  summary: Record<string, number> | null;
  /** True if a report of the run is stored. */
  hasReport: boolean;
  error: RunError | null;
  queuedAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  requestHash: string | null;
};

const columns = `r.id, r.project_id as "projectId", r.world_id as "worldId", coalesce(w.former_slug, w.slug) as slug,
  r.version_id as "versionId", v.number, r.kind, r.origin, r.author, r.task::text as "taskJson", r.input::text as "inputJson",
  r.state, r.session_id as "sessionId", r.sessions, r.attempts, r.outcome, r.summary, r.report is not null as "hasReport",
  case when r.error_code is not null then json_build_object('code', r.error_code, 'message', r.error_message) end as error,
  r.queued_at as "queuedAt", r.started_at as "startedAt", r.finished_at as "finishedAt", r.request_hash as "requestHash"`;
const joins = 'join worlds w on w.id = r.world_id join versions v on v.id = r.version_id';

export type NewRun = Pick<
  RunRow,
  'id' | 'projectId' | 'worldId' | 'versionId' | 'kind' | 'origin' | 'author'
> & {
  taskJson: string | null;
  inputJson: string;
  idempotencyKey: string | null;
  requestHash: string | null;
};

/** Task with which the session of the run is opened: a task that the version bundles, or a version of a stored task. */
export type RunTask = { name: string } | { id: string; version: number };

export type RunRequest = {
  kind: RunKind;
  origin: RunOrigin;
  /** Public key of the client that requests the run. */
  author: string;
  version: { id: string; worldId: string; projectId: string };
  task?: RunTask;
  /** Input of the call that the run makes. */
  input: object;
  idempotencyKey?: string | undefined;
  /** Hash of the request; null without an `Idempotency-Key`. */
  requestHash?: string | null;
};

/** Builds the row of a run, with a new id. */
export const newRun = ({ kind, origin, author, version, ...request }: RunRequest): NewRun => ({
  id: newId('run'),
  projectId: version.projectId,
  worldId: version.worldId,
  versionId: version.id,
  kind,
  origin,
  author,
  taskJson: request.task === undefined ? null : JSON.stringify(request.task),
  inputJson: JSON.stringify(request.input),
  idempotencyKey: request.idempotencyKey ?? null,
  requestHash: request.requestHash ?? null,
});

/** Unique index that a second run with the same `Idempotency-Key` violates. */
export const runKeyIndex = 'world_runs_idempotency';

const insertStatement = statement(
  'insert_run',
  `with room as materialized (
     select (select count(*) from world_runs where project_id = :projectId and state = 'queued') < ${runLimits.queued} as is_there
   )
   insert into world_runs (id, project_id, world_id, version_id, kind, origin, author, task, input, idempotency_key,
                           request_hash, state, outcome, error_code, error_message, finished_at)
   select :id, :projectId, :worldId, :versionId, :kind, :origin, :author, :taskJson::json, :inputJson::json, :idempotencyKey,
          :requestHash, case when is_there then 'queued' else 'finished' end, case when not is_there then 'error' end,
          case when not is_there then 'exhausted' end, case when not is_there then :noRoom end,
          case when not is_there then now() end
     from room where is_there or :noRoom::text is not null
   returning id`,
);

/**
 * Queues a run. If the project has the maximum number of queued runs and `noRoom` is given, the run is written as
 * finished, with `noRoom` as its error message. Without `noRoom`, nothing is written in that case, and false is
 * returned.
 */
export const insertRun = async (
  db: Queryable,
  run: NewRun,
  noRoom: string | null = null,
): Promise<boolean> => (await db.query(insertStatement, { ...run, noRoom })).length > 0;

/** Duration of a lease in seconds, counted from its last renewal. */
export const leaseSeconds = 20;
const lease = `now() + interval '${leaseSeconds} seconds'`;

const underWay = `(select count(*) from world_runs o where o.project_id = r.project_id and o.state = 'running')`;

const claimStatement = statement(
  'claim_run',
  `with next as (
     select r.id from world_runs r
      where r.state <> 'finished'
        and (r.state = 'running' and r.lease_until < now()
          or r.state = 'queued' and r.due_at <= now() and ${underWay} < ${runLimits.runningOfProject})
      order by ${underWay}, r.queued_at, r.id
      limit 1 for update of r skip locked
   ), claimed as (
     update world_runs r
        set state = 'running', lease_owner = $1, lease_until = ${lease}, started_at = coalesce(r.started_at, now())
       from next where r.id = next.id
     returning r.*
   )
   select ${columns} from claimed r ${joins}`,
);

/** Run that was claimed, with the token that identifies the owner of the lease. */
export type ClaimedRun = RunRow & { owner: string; startedAt: Date };

/** Claims the next run. Returns undefined if there is none. */
export const claimRun = async (db: Queryable): Promise<ClaimedRun | undefined> => {
  const owner = randomUUID();
  const [row] = await db.query<ClaimedRun>(claimStatement, [owner]);
  return row === undefined ? undefined : { ...row, owner };
};

type Held = Pick<ClaimedRun, 'id' | 'owner'>;
const held = `id = :id and lease_owner = :owner and state = 'running'`;

const renewStatement = statement(
  'renew_run',
  `update world_runs set lease_until = ${lease}, session_id = coalesce(:sessionId, session_id), sessions = :sessions
    where ${held} returning id`,
);

/** Renews a lease and records the session of the run. Returns false if the run is now claimed by another worker. */
export const renewRun = async (
  db: Queryable,
  { id, owner }: Held,
  { sessionId, sessions }: { sessionId: string | null; sessions: number },
): Promise<boolean> =>
  (await db.query(renewStatement, { id, owner, sessionId, sessions })).length > 0;

const putBackStatement = statement(
  'put_back_run',
  `update world_runs set state = 'queued', started_at = null, lease_owner = null, lease_until = null, attempts = :attempts,
          due_at = now() + make_interval(secs => :afterMs / 1000.0)
    where ${held}`,
);

/** Puts a run back into the queue. It is not claimed again before `afterMs` milliseconds have passed. */
export const requeueRun = async (
  db: Queryable,
  { id, owner }: Held,
  { attempts, afterMs }: { attempts: number; afterMs: number },
): Promise<void> => {
  await db.query(putBackStatement, { id, owner, attempts, afterMs });
};

const letGoStatement = statement(
  'let_go_of_run',
  `update world_runs set lease_until = now() - interval '1 second' where ${held}`,
);

/** Releases the lease. The next worker that claims the run continues it. */
export const releaseRun = async (db: Queryable, { id, owner }: Held): Promise<void> => {
  await db.query(letGoStatement, { id, owner });
};

const finishStatement = statement(
  'finish_run',
  `update world_runs
      set state = 'finished', finished_at = now(), lease_owner = null, lease_until = null, outcome = :outcome,
          summary = :summaryJson::json, report = :reportJson::json, error_code = :code, error_message = :message
    where ${held} returning id`,
);

/** Result of a run. A run that ends with an `error` has no report. */
export type RunEnd = {
  outcome: RunOutcome;
  summary: Record<string, number> | null;
  reportJson: string | null;
  error: RunError | null;
};

/**
 * Ends a run. Returns false if the run is now claimed by another worker. If the run tested a version at its gate, also
 * settles the gate in the same transaction.
 */
export const finishRun = (
  db: Database,
  { id, owner, kind, versionId }: Held & Pick<RunRow, 'kind' | 'versionId'>,
  { outcome, summary, reportJson, error }: RunEnd,
): Promise<boolean> => {
  const { code = null, message = null } = error ?? {};
  const summaryJson = summary === null ? null : JSON.stringify(summary);
  const values = { id, owner, outcome, summaryJson, reportJson, code, message };
  return db.transaction(async (tx) => {
    if ((await tx.query(finishStatement, values)).length === 0) return false;
    if (kind === 'tests') await settleGate(tx, versionId, outcome === 'passed');
    return true;
  });
};

const trimStatement = statement(
  'trim_runs',
  `with ranked as (
     select id, row_number() over (order by queued_at desc, id desc) as place
       from world_runs where world_id = $1 and kind = $2 and state = 'finished'
   ), gone as (
     delete from world_runs r using ranked where r.id = ranked.id and place > ${runLimits.keptRuns}
   )
   update world_runs r set report = null from ranked
    where r.id = ranked.id and place > ${runLimits.keptReports} and place <= ${runLimits.keptRuns} and r.report is not null`,
);

/** Deletes the oldest finished runs of a world, and of the next oldest runs only the reports. */
export const trimRuns = async (db: Queryable, worldId: string, kind: RunKind): Promise<void> => {
  await db.query(trimStatement, [worldId, kind]);
};

const findStatement = statement(
  'find_run',
  `select ${columns} from world_runs r ${joins} where r.id = $1 and r.project_id = $2`,
);

/** Returns the run with this id in the project; undefined if there is none. */
export const findRun = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<RunRow | undefined> => (await db.query<RunRow>(findStatement, [id, projectId]))[0];

const findByKeyStatement = statement(
  'find_run_by_key',
  `select ${columns} from world_runs r ${joins} where r.project_id = $1 and r.idempotency_key = $2`,
);

/** Returns the run that the first request with this `Idempotency-Key` created; undefined if there is none. */
export const findRunByKey = async (
  db: Queryable,
  projectId: string,
  key: string,
): Promise<RunRow | undefined> => (await db.query<RunRow>(findByKeyStatement, [projectId, key]))[0];

const reportStatement = statement(
  'find_run_report',
  'select report::text as "reportJson" from world_runs where id = $1 and project_id = $2',
);

/** Returns the report of a run as JSON text; null if there is none or it was deleted. */
export const findReport = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<string | null> =>
  (await db.query<{ reportJson: string | null }>(reportStatement, [id, projectId]))[0]
    ?.reportJson ?? null;

const listOf = (of: 'world' | 'version') =>
  statement(
    `list_runs_of_${of}`,
    `select ${columns} from world_runs r ${joins} where r.${of}_id = :of and r.kind = :kind
      order by r.queued_at desc, r.id desc limit :limit offset :offset`,
  );
const countOf = (of: 'world' | 'version') =>
  statement(
    `count_runs_of_${of}`,
    `select count(*)::int as total from world_runs where ${of}_id = $1 and kind = $2`,
  );
const lists = {
  world: { list: listOf('world'), count: countOf('world') },
  version: { list: listOf('version'), count: countOf('version') },
};

/** Scope of a list of runs: a world, or one of the world's versions. */
export type RunsOf = { of: 'world' | 'version'; id: string; kind: RunKind };

/** Lists a page of runs, newest first, and counts all runs. */
export const listRuns = async (
  db: Queryable,
  { of, id, kind }: RunsOf,
  page: { limit: number; offset: number },
): Promise<{ rows: RunRow[]; total: number }> => {
  const { list, count } = lists[of];
  const [rows, [counted]] = await Promise.all([
    db.query<RunRow>(list, { ...page, of: id, kind }),
    db.query<{ total: number }>(count, [id, kind]),
  ]);
  return { rows, total: counted?.total ?? 0 };
};

/** Returns the SQL for a column with the last test run of a version; null if no tests ran. */
export const latestTestsOf = (versionId: string): string =>
  `(select json_build_object('runId', r.id, 'state', r.state, 'outcome', r.outcome, 'summary', r.summary)
      from world_runs r where r.version_id = ${versionId} and r.kind = 'tests'
     order by r.queued_at desc, r.id desc limit 1)`;

export type LatestTests = Pick<RunRow, 'state' | 'outcome' | 'summary'> & { runId: string };
