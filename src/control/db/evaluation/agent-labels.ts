/** Labels of agent builds: the build to which each label points, and the history of the labels. */
import { type Queryable, replannedStatement, statement } from '../core/database.ts';
import { type Count, type NumberedPage, numberedValues, type Read, toRead } from '../core/lists.ts';
import { countUpTo } from '../core/where.ts';

export type LabelMoveRow = {
  id: string;
  agentId: string;
  label: string;
  buildId: string;
  previousBuildId: string | null;
  isRollback: boolean;
  isForced: boolean;
  /** Names of the tools with breaking changes. */
  breaking: string[];
  reason: string | null;
  actor: string;
  source: string | null;
  movedAt: Date;
  /** Number in the order of the moves: a higher number is later. */
  number: number;
};

const columns = `m.id, m.agent_id as "agentId", m.label, m.build_id as "buildId",
  m.previous_build_id as "previousBuildId", m.is_rollback as "isRollback", m.is_forced as "isForced",
  m.breaking, m.reason, m.actor, m.source, m.moved_at as "movedAt", m.number::float8 as number`;

const lockStatement = statement(
  'lock_agent_label',
  `select pg_advisory_xact_lock(hashtextextended(
     'agent label ' || json_build_array(:projectId::text, :agentId::text, :label::text), 0))`,
);

type LabelOf = { projectId: string; agentId: string; label: string };

/** Locks the label. Other transactions that would move the label wait until this transaction ends. */
export const lockLabel = async (tx: Queryable, label: LabelOf): Promise<void> => {
  await tx.query(lockStatement, label);
};

const putStatement = statement(
  'move_agent_label',
  `with put as (
     insert into agent_labels (project_id, agent_id, label, build_id)
     values (:projectId, :agentId, :label, :buildId)
     on conflict (project_id, agent_id, label) do update set build_id = excluded.build_id, moved_at = now()
   )
   insert into agent_label_moves as m (id, project_id, agent_id, label, build_id, previous_build_id,
     is_rollback, is_forced, breaking, reason, actor, source)
   values (:id, :projectId, :agentId, :label, :buildId, :previousBuildId,
     :isRollback, :isForced, :breaking::text[], :reason, :actor, :source)
   returning ${columns}`,
);

/** Points a label to a build and records the move. The caller must hold the lock on the label. */
export const putLabel = async (
  tx: Queryable,
  projectId: string,
  move: Omit<LabelMoveRow, 'movedAt' | 'number'>,
): Promise<LabelMoveRow> => {
  const [row] = await tx.query<LabelMoveRow>(putStatement, { projectId, ...move });
  if (row === undefined)
    throw new Error(`the database returned no row for the inserted move ${move.id}`);
  return row;
};

const lastStatement = statement(
  'find_last_label_move',
  `select ${columns} from agent_label_moves m
    where m.build_id = :buildId and m.label = :label order by m.number desc limit 1`,
);

/** Returns the last move of a label to this build; undefined if there is none. */
export const findLastMove = async (
  tx: Queryable,
  buildId: string,
  label: string,
): Promise<LabelMoveRow | undefined> =>
  (await tx.query<LabelMoveRow>(lastStatement, { buildId, label }))[0];

const listStatement = replannedStatement(
  'list_label_moves',
  `select ${columns} from agent_label_moves m
    where (m.build_id = :buildId or m.previous_build_id = :buildId) and m.number < :fromNumber::bigint
    order by m.number desc limit :limit offset :offset`,
);

/** Lists a page of the moves of labels to or away from a build, newest first, and counts them. */
export const listMoves = async (
  db: Queryable,
  buildId: string,
  page: NumberedPage,
): Promise<Read<LabelMoveRow> & { count: Count }> => {
  const [rows, count] = await Promise.all([
    db.query<LabelMoveRow>(listStatement, { buildId, ...numberedValues(page) }),
    countUpTo(db, 'count_label_moves', 'agent_label_moves', [
      (bind) => {
        const id = bind(buildId);
        return `build_id = ${id} or previous_build_id = ${id}`;
      },
    ]),
  ]);
  return { ...toRead(rows, page.limit), count };
};
