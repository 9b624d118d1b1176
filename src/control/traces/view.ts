/** Traces and observations as they are answered. What clients sent as free JSON goes through as text. */
import { usualEnvironment } from '#observability/environment.ts';
import { usualLevel } from '#observability/object.ts';
import { readPricing } from '#observability/pricing.ts';
import { type Counts, totalsOf } from '#observability/usage.ts';
import type { ScoreView } from '#wire/public-api/score.ts';
import type { ObservationView, TraceView } from '#wire/public-api/trace.ts';
import type { ObservationRow } from '../db/observation-reads.ts';
import type { ScoreRow } from '../db/score-reads.ts';
import { isoOf } from '../db/times.ts';
import type { ShownTraceRow } from '../db/trace-reads.ts';
import { JsonText, jsonText } from '../json/json-text.ts';

const heavy = ['input', 'output', 'metadata'];

/** Metadata is an object also where nobody gave any. */
const emptyObject = {};

const omittedOf = ({ isCut }: { isCut: boolean | null }) => (isCut ? { omitted: [...heavy] } : {});

/** A trace without what hangs on it. */
export const viewTrace = (row: ShownTraceRow, projectId: string) => ({
  id: row.id,
  externalId: row.externalId,
  timestamp: isoOf(row.timestamp),
  name: row.name,
  userId: row.userId,
  sessionId: row.sessionId,
  metadata: jsonText(row.metadata) ?? emptyObject,
  release: row.release,
  version: row.version,
  projectId,
  environment: row.environment ?? usualEnvironment,
  public: row.public ?? false,
  bookmarked: false,
  tags: row.tags ?? [],
  input: jsonText(row.input),
  output: jsonText(row.output),
  createdAt: isoOf(row.createdAt),
  updatedAt: isoOf(row.updatedAt ?? row.createdAt),
  htmlPath: `/project/${projectId}/traces/${encodeURIComponent(row.id)}`,
  ...omittedOf(row),
});

type Hanging = Pick<TraceView, 'observations' | 'scores' | 'totalCost' | 'latency'>;

/** A trace in a list. */
export const viewListedTrace = (
  row: ShownTraceRow,
  projectId: string,
  hanging: Hanging,
): TraceView => ({
  ...viewTrace(row, projectId),
  ...hanging,
});

const countsOf = (json: string | null): Counts => (json === null ? {} : JSON.parse(json));

const secondsBetween = (from: string, to: string | null): number | null =>
  to === null ? null : Math.max(0, Date.parse(to) - Date.parse(from)) / 1_000;

const isoOrNull = (text: string | null): string | null => (text === null ? null : isoOf(text));

/** When it ended; an end before its beginning is none. */
const endOf = (startTime: string, endTime: string | null): string | null =>
  endTime !== null && Date.parse(endTime) < Date.parse(startTime) ? startTime : endTime;

/** An observation, whole. */
export const viewObservation = (row: ObservationRow, projectId: string): ObservationView => {
  const usage = countsOf(row.usageJson);
  const pricing = readPricing(row.pricingJson);
  const cost = row.costJson === null ? (pricing?.cost ?? null) : countsOf(row.costJson);
  const totals = totalsOf(usage);
  const costs = cost === null ? null : totalsOf(cost);
  const startTime = isoOf(row.startTime);
  const endTime = endOf(startTime, isoOrNull(row.endTime));
  const completionStartTime = isoOrNull(row.completionStartTime);
  return {
    id: row.id,
    projectId,
    traceId: row.traceId,
    parentObservationId: row.parentId,
    name: row.name,
    type: row.type,
    environment: row.environment ?? usualEnvironment,
    startTime,
    endTime,
    completionStartTime,
    version: row.version,
    createdAt: isoOf(row.createdAt),
    updatedAt: isoOf(row.updatedAt ?? row.createdAt),
    input: jsonText(row.input),
    output: jsonText(row.output),
    metadata: jsonText(row.metadata) ?? emptyObject,
    level: row.level ?? usualLevel,
    statusMessage: row.statusMessage,
    model: row.model,
    modelParameters: jsonText(row.modelParametersJson) ?? emptyObject,
    promptId: null,
    promptName: row.promptName,
    promptVersion: row.promptVersion,
    usageDetails: usage,
    costDetails: cost ?? {},
    usage: { unit: 'TOKENS', ...totals },
    unit: 'TOKENS',
    promptTokens: totals.input,
    completionTokens: totals.output,
    totalTokens: totals.total,
    usagePricingTierId: pricing?.tierId ?? null,
    usagePricingTierName: pricing?.tierName ?? null,
    modelId: pricing?.modelId ?? null,
    inputPrice: pricing?.inputPrice ?? null,
    outputPrice: pricing?.outputPrice ?? null,
    totalPrice: pricing?.totalPrice ?? null,
    calculatedInputCost: costs?.input ?? null,
    calculatedOutputCost: costs?.output ?? null,
    calculatedTotalCost: costs?.total ?? null,
    latency: secondsBetween(startTime, endTime),
    timeToFirstToken: secondsBetween(startTime, completionStartTime),
    ...omittedOf(row),
  };
};

/** A score. One of text has no number, and one of a number no text. */
export const viewScore = (row: ScoreRow, projectId: string): ScoreView => ({
  id: row.id,
  projectId,
  environment: row.environment,
  name: row.name,
  ...(row.value === null ? {} : { value: row.value }),
  ...(row.stringValue === null ? {} : { stringValue: row.stringValue }),
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
