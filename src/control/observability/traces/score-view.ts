/** Converts scores to the form that clients see. */
import type { ScoreView } from '#wire/public-api/observability/score.ts';
import { JsonText } from '../../base/json/json-text.ts';
import type { ScoreRow } from '../../db/observability/score-reads.ts';

/**
 * Returns a score as clients see it. A score without a number has no `value`; without a text its `stringValue` is null.
 */
export const viewScore = (row: ScoreRow, projectId: string): ScoreView => ({
  id: row.id,
  projectId,
  environment: row.environment,
  name: row.name,
  ...(row.value === null ? {} : { value: row.value }),
  stringValue: row.stringValue,
  dataType: row.dataType,
  source: row.source,
  authorUserId: row.authorUserId,
  comment: row.comment,
  metadata: new JsonText(row.metadata),
  configId: row.configId,
  queueId: row.queueId,
  executionTraceId: null,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  timestamp: row.timestamp.toISOString(),
  traceId: row.traceId,
  observationId: row.observationId,
  sessionId: row.sessionId,
  datasetRunId: row.datasetRunId,
});
