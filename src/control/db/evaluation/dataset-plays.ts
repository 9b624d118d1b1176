/**
 * Runs of datasets on sessions of a world: which items wait, which have a session, and what those came to. Whoever
 * carries one on has it to itself until the time that it noted.
 */

import { type Queryable, statement } from '../core/database.ts';
import type { AgentEndRow } from '../sessions/agent-ends.ts';
import { gradeColumns, lastGrade } from '../sessions/last-grade.ts';

export type PlayState = 'RUNNING' | 'COMPLETED' | 'STOPPED';
export type RolloutState = 'WAITING' | 'OPEN' | 'GRADED' | 'FAILED';

export type PlayRow = {
  runKey: string;
  projectId: string;
  /** The address of the world. */
  world: string;
  /** Sessions that are open at the most. */
  atOnce: number;
  state: PlayState;
  /** Why it was stopped. */
  reason: string | null;
  /** The build that its sessions are rollouts of; null: of none. */
  buildHash: string | null;
  finishedAt: Date | null;
  items: number;
  waiting: number;
  open: number;
  graded: number;
  passed: number;
  failed: number;
  /** Those that failed because their agent did. */
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

/** What is played of a run; undefined for one whose items are linked by others. */
export const findPlay = async (db: Queryable, runKey: string): Promise<PlayRow | undefined> =>
  (await db.query<PlayRow>(findStatement, [runKey]))[0];

const beginStatement = statement(
  'begin_dataset_play',
  `insert into dataset_plays as p (run_key, project_id, world, at_once, build_hash, state)
   values (:runKey, :projectId, :world, :atOnce, :buildHash, 'RUNNING')
   on conflict (run_key) do update
      set at_once = excluded.at_once, state = 'RUNNING', reason = null, finished_at = null, due_at = now()
    where p.world = excluded.world and coalesce(p.build_hash = excluded.build_hash, excluded.build_hash is null)
   returning run_key`,
);

// An item that has a link was done, by whomever. What failed is tried once more.
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

// The run of the build is over when as many were graded. It keeps its plan when items are added later.
const planStatement = statement(
  'plan_dataset_play',
  `update dataset_plays p set planned = (select count(*) from dataset_rollouts o where o.run_key = p.run_key)
    where p.run_key = $1 and p.planned is null and p.build_hash is not null`,
);

/** Begins a run or has one go on; false when it is on another world, or of another build. */
export const beginPlay = async (
  tx: Queryable,
  play: Pick<PlayRow, 'runKey' | 'projectId' | 'world' | 'atOnce' | 'buildHash'> & {
    datasetKey: string;
  },
): Promise<boolean> => {
  const { datasetKey, ...row } = play;
  if ((await tx.query(beginStatement, row)).length === 0) return false;
  await tx.query(fillStatement, { runKey: play.runKey, datasetKey });
  await tx.query(planStatement, [play.runKey]);
  return true;
};

/** How long one has a run to itself unless the lease is renewed, in seconds. One that was killed keeps a run waiting for so long. */
const leaseSeconds = 10;

const claimStatement = statement(
  'claim_dataset_play',
  `update dataset_plays set due_at = now() + interval '${leaseSeconds} seconds'
    where run_key = (select run_key from dataset_plays where state = 'RUNNING' and due_at <= now()
                      order by due_at limit 1 for update skip locked)
   returning run_key as "runKey", project_id as "projectId", world, at_once as "atOnce",
             build_hash as "buildHash", planned, (select d.id from dataset_runs d where d.key = run_key) as "runId"`,
);

export type ClaimedPlay = Pick<
  PlayRow,
  'runKey' | 'projectId' | 'world' | 'atOnce' | 'buildHash'
> & {
  /** The id of the run. */
  runId: string;
  /** Number of rollouts that the run of its build plans; null without a build. */
  planned: number | null;
};

/** Claims the run that has waited for longest; undefined when none is due. */
export const claimPlay = async (db: Queryable): Promise<ClaimedPlay | undefined> =>
  (await db.query<ClaimedPlay>(claimStatement, []))[0];

const renewStatement = statement(
  'renew_dataset_play',
  `update dataset_plays set due_at = now() + interval '${leaseSeconds} seconds'
    where run_key = $1 and state = 'RUNNING'`,
);

/** Keeps a claimed run for as long again. */
export const renewPlay = async (db: Queryable, runKey: string): Promise<void> => {
  await db.query(renewStatement, [runKey]);
};

// No row where none goes on: the greatest of 0 and null is 0.
const dueStatement = statement(
  'next_due_dataset_play',
  `select greatest(0, extract(epoch from min(due_at) - now()) * 1000)::float8 as ms
     from dataset_plays where state = 'RUNNING' having count(*) > 0`,
);

/** Until a run is due again; undefined when none goes on. */
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

/** Lets go of it for so long; it is over where nothing is left. */
export const letGoOfPlay = async (
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

/** Opens no further session of it; false when it does not run. */
export const stopPlay = async (db: Queryable, runKey: string, reason: string): Promise<boolean> =>
  (await db.query(stopStatement, [runKey, reason])).length > 0;

/** An item of a run with its session, where it has one. */
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
  /** The end of its agent; null: none was reported. */
  agent: RolloutAgent | null;
};

export type RolloutAgent = Pick<AgentEndRow, 'outcome' | 'exitCode' | 'signal' | 'lastLines'>;

/** Column with the end of the agent of a rollout's session, which is joined as `a`. */
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

/** An item to open a session on; its input is JSON text, and null when it has none. */
export type WaitingRollout = RolloutRow & { input: string | null };

/** The next that waits; undefined when none does, as many are open as may be, or the run was stopped. */
export const nextWaiting = async (
  db: Queryable,
  { runKey, atOnce }: ClaimedPlay,
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
  /** That its session is told in. */
  traceId: string;
  isClosed: boolean;
  endReason: string | null;
};

/** Those with a session, each with the last grade of that. */
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

/** Changes how an item stands, if it still stands as it did. */
export const setRollout = async (db: Queryable, change: RolloutChange): Promise<void> => {
  await db.query(setStatement, change);
};

// Whoever stops the run waits for this, and then finds the session; or this finds the run stopped.
const giveSessionStatement = statement(
  'give_dataset_rollout_session',
  `with p as (select run_key from dataset_plays where run_key = :runKey and state = 'RUNNING' for share)
   update dataset_rollouts o set state = 'OPEN', session_id = :sessionId, error = null
     from p where o.run_key = p.run_key and o.item_key = :itemKey
      and (o.state = 'WAITING' or o.state = 'OPEN' and o.session_id = :sessionId)
   returning o.item_key`,
);

/** Gives a waiting item its session, or finds that it has it; false where the run was stopped or deleted meanwhile. */
export const giveSession = async (
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

/** Has an item wait for another session, as that of this attempt has ended before the item had it. */
export const tryAgain = async (
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

/** The items of a run in their order, beyond a place. */
export const listRollouts = (
  db: Queryable,
  runKey: string,
  asked: { state: RolloutState | null; after: RolloutPlace | undefined; limit: number },
): Promise<RolloutRow[]> =>
  db.query<RolloutRow>(listStatement, {
    ...{ runKey, state: asked.state, limit: asked.limit },
    ...{ position: asked.after?.position ?? null, itemKey: asked.after?.itemKey ?? null },
  });
