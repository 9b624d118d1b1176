/** Reads scores, and deletes single scores. */
import { type Database, type Queryable, statement } from '../core/database.ts';
import type { Count } from '../core/lists.ts';
import { type Condition, conditioned, countUpTo } from '../core/where.ts';
import { keyOf } from './trace-keys.ts';

/** Score as clients see it. */
export type ScoreRow = {
  key: string;
  id: string;
  name: string;
  dataType: string;
  value: number | null;
  stringValue: string | null;
  source: string;
  authorUserId: string | null;
  comment: string | null;
  metadata: string;
  configId: string | null;
  queueId: string | null;
  environment: string;
  timestamp: Date;
  traceId: string | null;
  observationId: string | null;
  sessionId: string | null;
  datasetRunId: string | null;
  createdAt: Date;
  updatedAt: Date;
};

/** Columns of the trace of a score; null if the score has no trace or its trace is not stored yet. */
export type ScoreTrace = {
  hasTrace: boolean;
  traceUser: string | null;
  traceTags: string[] | null;
  traceEnvironment: string | null;
  traceSession: string | null;
};

const columns = `s.key, s.id, s.name, s.data_type as "dataType", s.value, s.string_value as "stringValue", s.source,
  s.author_user_id as "authorUserId", s.comment, s.metadata, s.config_id as "configId", s.queue_id as "queueId",
  s.environment, s.scored_at as "timestamp", s.trace_id as "traceId", s.observation_id as "observationId",
  s.session_id as "sessionId", s.dataset_run_id as "datasetRunId", s.created_at as "createdAt",
  s.updated_at as "updatedAt"`;

const ofTrace = `t.key is not null as "hasTrace", t.user_id as "traceUser", t.tags as "traceTags",
  coalesce(t.environment, 'default') as "traceEnvironment", t.session_id as "traceSession"`;

const joined = 'scores s left join traces t on t.key = s.trace_key';

const inProject =
  (projectId: string): Condition =>
  (bind) =>
    `s.project_id = ${bind(projectId)}`;

/** Lists a page of scores, latest first. Conditions refer to the score as `s` and to its trace as `t`. */
export const listScores = async (
  db: Database,
  projectId: string,
  conditions: readonly Condition[],
  { limit, offset }: { limit: number; offset: number },
): Promise<(ScoreRow & ScoreTrace)[]> => {
  const page = conditioned(
    'list_scores',
    (where, bind) =>
      `select ${columns}, ${ofTrace} from ${joined} where ${where}
        order by s.scored_at desc, s.key desc limit ${bind(limit)} offset ${bind(offset)}`,
    [inProject(projectId), ...conditions],
  );
  return db.query<ScoreRow & ScoreTrace>(page.statement, page.values);
};

/** Counts the matching scores, up to a bound. */
export const countScores = (
  db: Database,
  projectId: string,
  conditions: readonly Condition[],
): Promise<Count> => countUpTo(db, 'count_scores', joined, [inProject(projectId), ...conditions]);

const findStatement = statement('find_score', `select ${columns} from scores s where s.key = $1`);

/** Returns the score with this id; undefined if there is none. */
export const findScore = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<ScoreRow | undefined> =>
  (await db.query<ScoreRow>(findStatement, [keyOf(projectId, id)]))[0];

/** Maximum number of scores shown for one trace. */
const mostOfTrace = 10_000;

const ofTraceStatement = statement(
  'list_scores_of_trace',
  `select ${columns} from scores s where s.trace_key = $1 order by s.scored_at, s.key limit ${mostOfTrace}`,
);

/** Lists the scores of a trace, earliest first. */
export const listScoresOf = (db: Queryable, traceKey: string): Promise<ScoreRow[]> =>
  db.query<ScoreRow>(ofTraceStatement, [traceKey]);

const deleteStatement = statement(
  'delete_score',
  'delete from scores where key = $1 returning key',
);

/** Deletes a score. Returns false if there is none with this id. */
export const deleteScore = async (db: Queryable, projectId: string, id: string): Promise<boolean> =>
  (await db.query(deleteStatement, [keyOf(projectId, id)])).length > 0;
