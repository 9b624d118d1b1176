/** Writes scores in bulk. */
import type { Score } from '#observability/score.ts';
import { type Queryable, statement } from '../core/database.ts';
import { arraysOf, type Column, sourceOf } from '../core/row-columns.ts';
import { keyOf } from './trace-keys.ts';

/** Score to write. */
export type ScoreWrite = {
  id: string;
  /** Time of the event that reported the score, in microseconds since 1970. */
  reportedAt: number;
  /** Time of the score, in milliseconds since 1970. */
  scoredAt: number;
  score: Score;
};

type Row = ScoreWrite & { projectId: string };

const column = (name: string, type: string, of: (row: Row) => unknown): Column<Row> => ({
  name,
  type,
  of,
});

const keyIn = (projectId: string, id: string | null): string | null =>
  id === null ? null : keyOf(projectId, id);

const columns: Column<Row>[] = [
  column('key', 'uuid', ({ projectId, id }) => keyOf(projectId, id)),
  column('project_id', 'text', ({ projectId }) => projectId),
  column('id', 'text', ({ id }) => id),
  column('name', 'text', ({ score }) => score.name),
  column('data_type', 'text', ({ score }) => score.dataType),
  column('value', 'double precision', ({ score }) => score.value),
  column('string_value', 'text', ({ score }) => score.stringValue),
  column('source', 'text', ({ score }) => score.source),
  column('comment', 'text', ({ score }) => score.comment),
  column('metadata', 'text', ({ score }) => score.metadataJson),
  column('config_id', 'text', ({ score }) => score.configId),
  column('queue_id', 'text', ({ score }) => score.queueId),
  column('environment', 'text', ({ score }) => score.environment),
  column('scored_at', 'timestamptz', ({ scoredAt }) => scoredAt),
  column('trace_key', 'uuid', ({ projectId, score }) => keyIn(projectId, score.traceId)),
  column('trace_id', 'text', ({ score }) => score.traceId),
  column('observation_id', 'text', ({ score }) => score.observationId),
  column('session_key', 'uuid', ({ projectId, score }) => keyIn(projectId, score.sessionId)),
  column('session_id', 'text', ({ score }) => score.sessionId),
  column('dataset_run_id', 'text', ({ score }) => score.datasetRunId),
  column('said_at', 'bigint', ({ reportedAt }) => reportedAt),
];

const names = columns.map(({ name }) => name);

const writeStatement = statement(
  'write_scores',
  `insert into scores (${names.join(', ')})
   select ${names.map((name) => `given.${name}`).join(', ')}
     from ${sourceOf(columns)}
    order by key
   on conflict (key) do update
     set ${names
       .filter((name) => name !== 'key')
       .map((name) => `${name} = excluded.${name}`)
       .join(', ')}, updated_at = now()
   where scores.said_at <= excluded.said_at`,
);

/** Writes scores. For each id, the latest report is written; a stored score that was reported later stays unchanged. */
export const writeScores = async (
  tx: Queryable,
  projectId: string,
  scores: readonly ScoreWrite[],
): Promise<void> => {
  if (scores.length === 0) return;
  const latest = new Map<string, ScoreWrite>();
  for (const score of scores) {
    const known = latest.get(score.id);
    if (known === undefined || known.reportedAt <= score.reportedAt) latest.set(score.id, score);
  }
  const rows = [...latest.values()].map((score) => ({ ...score, projectId }));
  await tx.query(writeStatement, arraysOf(columns, rows));
};
