/**
 * Runs of datasets on sessions of a world: the waiting items, the open sessions, and the results. The worker that
 * processes a run holds a lease on it, until `due_at`.
 */

import { type Queryable, statement } from '../core/database.ts';
import type { AgentEndRow } from '../sessions/agent-ends.ts';
import { gradeColumns, lastGrade } from '../sessions/last-grade.ts';

export type WorldRunState = 'RUNNING' | 'COMPLETED' | 'STOPPED';
export type RolloutState = 'WAITING' | 'OPEN' | 'GRADED' | 'FAILED';

export type WorldRunRow = {
  runKey: string;
  projectId: string;
  /** Path of the world, `organization/project/slug`. */
  world: string;
  /** Maximum number of open sessions. */
  atOnce: number;
  state: WorldRunState;
  /** Reason why the run stopped; null if there is none. */
  reason: string | null;
  /** Hash of the agent build whose rollouts the sessions are; null if there is none. */
  buildHash: string | null;
  finishedAt: Date | null;
  items: number;
  waiting: number;
  open: number;
  graded: number;
  passed: number;
  failed: number;
  /** Number of items that failed because their agent failed. */
  crashed: number;
};

const columns = `p.run_key as "runKey", p.project_id as "projectId", p.world, p.at_once as "atOnce", p.state, p.reason, p.build_hash as "buildHash",
  p.finished_at as "finishedAt", counts.*`;
const agentFailed = `coalesce(a.outcome <> 'ended', false)`;
const counted = `cross join lateral (
  select count(*)::int as items,
         count(*) filter (where o.state = 'WAITING')::int as waiting,
         count(*) filter (where o.state = 'OPEN')::int as open,
         count(*) filter (where o.state = 'GRADED')::int as graded,
         count(*) filter (where o.verdict = 'pass')::int as passed,
         count(*) filter (where o.state = 'FAILED')::int as failed,
         count(*) filter (where o.state = 'FAILED' and ${agentFailed})::int as crashed
    from dataset_rollouts o left join session_agents a on a.session_id = o.session_id where o.run_key = p.run_key) counts`;

const findStatement = statement(
  'find_dataset_play',
  `select ${columns} from dataset_plays p ${counted} where p.run_key = $1`,
);

/** Returns the state of a run on a world; undefined for a run in which the client itself links the items. */
export const findWorldRun = async (
  db: Queryable,
  runKey: string,
): Promise<WorldRunRow | undefined> => (await db.query<WorldRunRow>(findStatement, [runKey]))[0];

const beginStatement = statement(
  'begin_dataset_play',
  `insert into dataset_plays as p (run_key, project_id, world, at_once, build_hash, state)
   values (:runKey, :projectId, :world, :atOnce, :buildHash, 'RUNNING')
   on conflict (run_key) do update
      set at_once = excluded.at_once, state = 'RUNNING', reason = null, finished_at = null, due_at = now()
    where p.world = excluded.world and coalesce(p.build_hash = excluded.build_hash, excluded.build_hash is null)
   returning run_key`,
);

// An item that a client has linked is done. A failed item is tried again.
const fillStatement = statement(
  'fill_dataset_play',
  `insert into dataset_rollouts as o (run_key, item_key, item_id, position, state)
   select :runKey, i.key, i.id, row_number() over (order by i.created_at, i.key), 'WAITING'
     from dataset_items i
    where i.dataset_key = :datasetKey and i.valid_to is null and i.status = 'ACTIVE'
      and (not exists (select from dataset_run_items l where l.run_key = :runKey and l.item_key = i.key)
           or exists (select from dataset_rollouts h where h.run_key = :runKey and h.item_key = i.key))
   on conflict (run_key, item_key) do update
      set state = 'WAITING', attempt = o.attempt + 1, session_id = null, error = null
    where o.state = 'FAILED'`,
);

// The run of the build is complete when `planned` sessions are graded. The plan stays when items are added later.
const planStatement = statement(
  'plan_dataset_play',
  `update dataset_plays p set planned = (select count(*) from dataset_rollouts o where o.run_key = p.run_key)
    where p.run_key = $1 and p.planned is null and p.build_hash is not null`,
);

/** Starts or resumes a run. Returns false if the run belongs to another world or another build. */
export const beginWorldRun = async (
  tx: Queryable,
  worldRun: Pick<WorldRunRow, 'runKey' | 'projectId' | 'world' | 'atOnce' | 'buildHash'> & {
    datasetKey: string;
  },
): Promise<boolean> => {
  const { datasetKey, ...row } = worldRun;
  if ((await tx.query(beginStatement, row)).length === 0) return false;
  await tx.query(fillStatement, { runKey: worldRun.runKey, datasetKey });
  await tx.query(planStatement, [worldRun.runKey]);
  return true;
};

/** Duration of a worker's lease on a run, in seconds. If a worker is killed, its run waits for at most this time. */
const leaseSeconds = 10;

const claimStatement = statement(
  'claim_dataset_play',
  `update dataset_plays set due_at = now() + interval '${leaseSeconds} seconds'
    where run_key = (select run_key from dataset_plays where state = 'RUNNING' and due_at <= now()
                      order by due_at limit 1 for update skip locked)
   returning run_key as "runKey", project_id as "projectId", world, at_once as "atOnce",
             build_hash as "buildHash", planned, (select d.id from dataset_runs d where d.key = run_key) as "runId"`,
);

export type ClaimedWorldRun = Pick<
  WorldRunRow,
  'runKey' | 'projectId' | 'world' | 'atOnce' | 'buildHash'
> & {
  /** Id of the dataset run. */
  runId: string;
  /** Number of rollouts that are planned for the run of its agent build; null without a build. */
  planned: number | null;
};

/** Claims the run that has been due for the longest time. Returns undefined if no run is due. */
export const claimWorldRun = async (db: Queryable): Promise<ClaimedWorldRun | undefined> =>
  (await db.query<ClaimedWorldRun>(claimStatement, []))[0];

const renewStatement = statement(
  'renew_dataset_play',
  `update dataset_plays set due_at = now() + interval '${leaseSeconds} seconds'
    where run_key = $1 and state = 'RUNNING'`,
);

/** Renews the lease on a claimed run. */
export const renewWorldRun = async (db: Queryable, runKey: string): Promise<void> => {
  await db.query(renewStatement, [runKey]);
};

// The having clause yields no row if no run is running: greatest(0, null) would be 0.
const dueStatement = statement(
  'next_due_dataset_play',
  `select greatest(0, extract(epoch from min(due_at) - now()) * 1000)::float8 as ms
     from dataset_plays where state = 'RUNNING' having count(*) > 0`,
);

/** Returns the milliseconds until the next run is due; undefined if no run is active. */
export const msUntilDue = async (db: Queryable): Promise<number | undefined> =>
  (await db.query<{ ms: number }>(dueStatement, []))[0]?.ms;

const letGoStatement = statement(
  'let_go_of_dataset_play',
  `update dataset_plays p
      set due_at = now() + make_interval(secs => :afterMs / 1000.0),
          state = case when is_done then 'COMPLETED' else p.state end,
          finished_at = case when is_done then now() end
     from (select not exists (select from dataset_rollouts o
                               where o.run_key = :runKey and o.state in ('WAITING', 'OPEN')) as is_done) done
    where p.run_key = :runKey and p.state = 'RUNNING'`,
);

/** Releases a claimed run; it is due again after `afterMs`. Marks the run as completed if no item is left. */
export const releaseWorldRun = async (
  db: Queryable,
  runKey: string,
  afterMs: number,
): Promise<void> => {
  await db.query(letGoStatement, { runKey, afterMs });
};

const stopStatement = statement(
  'stop_dataset_play',
  `update dataset_plays set state = 'STOPPED', reason = $2, finished_at = now()
    where run_key = $1 and state = 'RUNNING' returning run_key`,
);

/** Stops a run, so that no further session is opened for it. Returns false if the run is not active. */
export const stopWorldRun = async (
  db: Queryable,
  runKey: string,
  reason: string,
): Promise<boolean> => (await db.query(stopStatement, [runKey, reason])).length > 0;

/** Item of a run, with the item's session if it has one. */
export type RolloutRow = {
  itemKey: string;
  itemId: string;
  position: number;
  state: RolloutState;
  attempt: number;
  sessionId: string | null;
  verdict: string | null;
  score: number | null;
  error: string | null;
  /** Reported end of the item's agent; null if no end was reported. */
  agent: RolloutAgent | null;
};

export type RolloutAgent = Pick<AgentEndRow, 'outcome' | 'exitCode' | 'signal' | 'lastLines'>;

/** SQL column with the reported end of the agent of a rollout's session. The report must be joined as `a`. */
const agentColumn = `case when a.session_id is not null then json_build_object('outcome', a.outcome,
    'exitCode', a.exit_code, 'signal', a.signal, 'lastLines', a.last_lines) end as agent`;
const agentJoin = 'left join session_agents a on a.session_id = o.session_id';

const rolloutColumns = `o.item_key as "itemKey", o.item_id as "itemId", o.position, o.state, o.attempt,
  o.session_id as "sessionId", o.verdict, o.score, o.error, ${agentColumn}`;

const waitingStatement = statement(
  'list_waiting_rollouts',
  `select ${rolloutColumns}, i.input
     from dataset_rollouts o ${agentJoin} left join dataset_items i on i.key = o.item_key and i.valid_to is null
    where o.run_key = $1 and o.state = 'WAITING'
      and (select count(*) from dataset_rollouts r where r.run_key = $1 and r.state = 'OPEN') < $2
      and exists (select from dataset_plays p where p.run_key = $1 and p.state = 'RUNNING')
    order by o.position, o.item_key limit 1`,
);

/** Item for which a session is to be opened. Its input is JSON text; null if it has none. */
export type WaitingRollout = RolloutRow & { input: string | null };

/**
 * Returns the next waiting item. Returns undefined if no item waits, the maximum number of sessions is open, or the run
 * was stopped.
 */
export const nextWaiting = async (
  db: Queryable,
  { runKey, atOnce }: ClaimedWorldRun,
): Promise<WaitingRollout | undefined> =>
  (await db.query<WaitingRollout>(waitingStatement, [runKey, atOnce]))[0];

const openStatement = statement(
  'list_open_rollouts',
  `select ${rolloutColumns.replace('o.verdict, o.score', gradeColumns)}, coalesce(s.trace_id, s.id) as "traceId",
          s.end_reason is not null as "isClosed", s.end_reason as "endReason"
     from dataset_rollouts o join sessions s on s.id = o.session_id ${agentJoin} ${lastGrade}
    where o.run_key = $1 and o.state = 'OPEN' order by o.position, o.item_key`,
);

export type OpenRollout = RolloutRow & {
  sessionId: string;
  /** Id of the trace of the item's session. */
  traceId: string;
  isClosed: boolean;
  endReason: string | null;
};

/** Lists the items whose sessions are open, each with the last grade of its session. */
export const listOpen = (db: Queryable, runKey: string): Promise<OpenRollout[]> =>
  db.query<OpenRollout>(openStatement, [runKey]);

const setStatement = statement(
  'set_dataset_rollout',
  `update dataset_rollouts
      set state = :state, session_id = :sessionId, verdict = :verdict, score = :score, error = :error
    where run_key = :runKey and item_key = :itemKey and state = :from`,
);

export type RolloutChange = Pick<
  RolloutRow,
  'itemKey' | 'state' | 'sessionId' | 'verdict' | 'score' | 'error'
> & { runKey: string; from: RolloutState };

/** Changes the state of an item if the item is still in the state `from`. */
export const setRollout = async (db: Queryable, change: RolloutChange): Promise<void> => {
  await db.query(setStatement, change);
};

// The share lock orders this against a stop of the run: a stop that waits for it then finds the session; a stop before
// it is found here.
const giveSessionStatement = statement(
  'give_dataset_rollout_session',
  `with p as (select run_key from dataset_plays where run_key = :runKey and state = 'RUNNING' for share)
   update dataset_rollouts o set state = 'OPEN', session_id = :sessionId, error = null
     from p where o.run_key = p.run_key and o.item_key = :itemKey
      and (o.state = 'WAITING' or o.state = 'OPEN' and o.session_id = :sessionId)
   returning o.item_key`,
);

/**
 * Assigns a session to a waiting item. If the item already has this session, returns true. Returns false if the run was
 * stopped or deleted in the meantime.
 */
export const assignSession = async (
  db: Queryable,
  rollout: Pick<OpenRollout, 'itemKey' | 'sessionId'> & { runKey: string },
): Promise<boolean> => {
  const { runKey, itemKey, sessionId } = rollout;
  return (await db.query(giveSessionStatement, { runKey, itemKey, sessionId })).length > 0;
};

const againStatement = statement(
  'try_dataset_rollout_again',
  `update dataset_rollouts set attempt = attempt + 1
    where run_key = :runKey and item_key = :itemKey and state = 'WAITING' and attempt = :attempt`,
);

/**
 * Makes an item wait for a new session, because the session of this attempt ended before it was assigned to the item.
 */
export const retryRollout = async (
  db: Queryable,
  rollout: Pick<RolloutRow, 'itemKey' | 'attempt'> & { runKey: string },
): Promise<void> => {
  const { runKey, itemKey, attempt } = rollout;
  await db.query(againStatement, { runKey, itemKey, attempt });
};

const listStatement = statement(
  'list_dataset_rollouts',
  `select ${rolloutColumns} from dataset_rollouts o ${agentJoin}
    where o.run_key = :runKey and (:state::text is null or o.state = :state)
      and (:position::integer is null or (o.position, o.item_key) > (:position, :itemKey::uuid))
    order by o.position, o.item_key limit :limit`,
);

export type RolloutPlace = { position: number; itemKey: string };

/** Lists the items of a run in their order, starting after the cursor `after`. */
export const listRollouts = (
  db: Queryable,
  runKey: string,
  asked: { state: RolloutState | null; after: RolloutPlace | undefined; limit: number },
): Promise<RolloutRow[]> =>
  db.query<RolloutRow>(listStatement, {
    ...{ runKey, state: asked.state, limit: asked.limit },
    ...{ position: asked.after?.position ?? null, itemKey: asked.after?.itemKey ?? null },
  });
