/**
 * Writes observations as JSON text directly from their rows, because an answer may hold a hundred thousand observations
 * of one trace. JSON of clients is passed on as stored.
 */
import { usualEnvironment } from '#observability/environment.ts';
import { usualLevel } from '#observability/object.ts';
import { type Pricing, readPricing } from '#observability/pricing.ts';
import { numberJson, quoted, quotedOrNull } from '../../base/json/json-text.ts';
import { isoOf } from '../../db/core/times.ts';
import type { ObservationRow } from '../../db/observability/observation-reads.ts';
import { omittedJson } from './trace-json.ts';

const isoOrNull = (text: string | null): string | null => (text === null ? null : isoOf(text));

const secondsBetween = (from: string, to: string | null): number | null =>
  to === null ? null : Math.max(0, Date.parse(to) - Date.parse(from)) / 1_000;

/**
 * Returns the times of an observation as ISO 8601, and its durations in seconds. An end before the start is replaced by
 * the start.
 */
export const timesOf = (row: ObservationRow) => {
  const startTime = isoOf(row.startTime);
  const given = isoOrNull(row.endTime);
  const latency = secondsBetween(startTime, given);
  const endTime = latency === 0 ? startTime : given;
  const completionStartTime = isoOrNull(row.completionStartTime);
  const createdAt = isoOf(row.createdAt);
  const updatedAt = isoOrNull(row.updatedAt) ?? createdAt;
  const timeToFirstToken = secondsBetween(startTime, completionStartTime);
  return {
    startTime,
    endTime,
    completionStartTime,
    createdAt,
    updatedAt,
    latency,
    timeToFirstToken,
  };
};

/** Returns the cost for each name of usage, as JSON text: the cost that the client gave, else the computed cost. */
export const costText = (row: ObservationRow, pricing: Pricing | null): string =>
  row.costJson ?? JSON.stringify(pricing?.cost ?? {});

const ofNone =
  '"usageDetails":{},"costDetails":{},"usage":{"unit":"TOKENS","input":0,"output":0,"total":0},' +
  '"unit":"TOKENS","promptTokens":0,"completionTokens":0,"totalTokens":0';
const ofNoModel =
  '"usagePricingTierId":null,"usagePricingTierName":null,"modelId":null,' +
  '"inputPrice":null,"outputPrice":null,"totalPrice":null';
const ofNoCost =
  '"calculatedInputCost":null,"calculatedOutputCost":null,"calculatedTotalCost":null';

const writeUsage = (row: ObservationRow, pricing: Pricing | null): string => {
  if (row.usageJson === null && row.costJson === null && pricing === null) return ofNone;
  const [input, output, total] = [row.inputUsage ?? 0, row.outputUsage ?? 0, row.totalUsage ?? 0];
  return (
    `"usageDetails":${row.usageJson ?? '{}'},"costDetails":${costText(row, pricing)},` +
    `"usage":{"unit":"TOKENS","input":${input},"output":${output},"total":${total}},` +
    `"unit":"TOKENS","promptTokens":${input},"completionTokens":${output},"totalTokens":${total}`
  );
};

const writeModel = (pricing: Pricing | null): string => {
  if (pricing === null) return ofNoModel;
  const { tierId, tierName, modelId, inputPrice, outputPrice, totalPrice } = pricing;
  return (
    `"usagePricingTierId":${quoted(tierId)},"usagePricingTierName":${quoted(tierName)},` +
    `"modelId":${quoted(modelId)},"inputPrice":${numberJson(inputPrice)},` +
    `"outputPrice":${numberJson(outputPrice)},"totalPrice":${numberJson(totalPrice)}`
  );
};

const writeCost = ({ inputCost, outputCost, totalCost }: ObservationRow): string =>
  totalCost === null
    ? ofNoCost
    : `"calculatedInputCost":${numberJson(inputCost)},"calculatedOutputCost":${numberJson(outputCost)},` +
      `"calculatedTotalCost":${numberJson(totalCost)}`;

/** Writes a whole observation. Metadata and model parameters are empty objects if no event gave any. */
export const writeObservation = (row: ObservationRow, projectId: string): string => {
  const times = timesOf(row);
  const pricing = readPricing(row.pricingJson);
  return (
    `{"id":${quoted(row.id)},"projectId":"${projectId}","traceId":${quoted(row.traceId)},` +
    `"parentObservationId":${quotedOrNull(row.parentId)},"name":${quotedOrNull(row.name)},` +
    `"type":${quoted(row.type)},"environment":${quoted(row.environment ?? usualEnvironment)},` +
    `"startTime":"${times.startTime}","endTime":${quotedOrNull(times.endTime)},` +
    `"completionStartTime":${quotedOrNull(times.completionStartTime)},` +
    `"version":${quotedOrNull(row.version)},"createdAt":"${times.createdAt}",` +
    `"updatedAt":"${times.updatedAt}","input":${row.input},"output":${row.output},` +
    `"metadata":${row.metadata ?? '{}'},"level":${quoted(row.level ?? usualLevel)},` +
    `"statusMessage":${quotedOrNull(row.statusMessage)},"model":${quotedOrNull(row.model)},` +
    `"modelParameters":${row.modelParametersJson ?? '{}'},"promptId":${quotedOrNull(row.promptId)},` +
    `"promptName":${quotedOrNull(row.promptName)},"promptVersion":${row.promptVersion},` +
    `${writeUsage(row, pricing)},${writeModel(pricing)},${writeCost(row)},` +
    `"latency":${times.latency},"timeToFirstToken":${times.timeToFirstToken}${omittedJson(row.isCut)}}`
  );
};
