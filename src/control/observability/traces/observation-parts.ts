/** Observations in groups of members. Clients request the groups that they need. */
import { cut } from '#domain/cut.ts';
import { usualEnvironment } from '#observability/environment.ts';
import { usualLevel } from '#observability/object.ts';
import { type Pricing, readPricing } from '#observability/pricing.ts';
import { jsonOf, jsonText } from '../../base/json/json-text.ts';
import type { ListedObservationRow } from '../../db/observability/observation-reads.ts';
import { costText, timesOf } from './observation-json.ts';

export const observationGroups = [
  'core',
  'basic',
  'time',
  'io',
  'metadata',
  'model',
  'usage',
  'prompt',
  'metrics',
  'trace_context',
] as const;
export type ObservationGroup = (typeof observationGroups)[number];
export const usualGroups: readonly ObservationGroup[] = ['core', 'basic'];

const mostMetadataChars = 200;

/** Returns metadata in which long values are cut, except those whose names the client requested whole. */
const cutMetadata = (text: string | null, whole: ReadonlySet<string>): unknown => {
  const metadata: unknown = text === null ? {} : JSON.parse(text);
  if (typeof metadata !== 'object' || metadata === null) return metadata;
  const entries = Object.entries(metadata).map(([key, value]) => {
    const shown = typeof value === 'string' ? value : JSON.stringify(value);
    const isLong = !whole.has(key) && shown.length > mostMetadataChars;
    return [key, isLong ? cut(shown, mostMetadataChars) : value];
  });
  return Object.fromEntries(entries);
};

/** Returns input or output as text: the content of a JSON string, or the JSON text of any other value. */
const rawText = (json: string | null): string | null =>
  json?.startsWith('"') ? JSON.parse(json) : json;

type Shown = { row: ListedObservationRow; projectId: string; expanded: ReadonlySet<string> };
type Read = Shown & { times: ReturnType<typeof timesOf>; pricing: Pricing | null };

const groups: Record<ObservationGroup, (read: Read) => Record<string, unknown>> = {
  core: () => ({}),
  basic: ({ row }) => ({
    name: row.name,
    level: row.level ?? usualLevel,
    statusMessage: row.statusMessage,
    version: row.version,
    environment: row.environment ?? usualEnvironment,
    bookmarked: false,
    public: row.isPublic ?? false,
    userId: row.userId,
    sessionId: row.sessionId,
  }),
  time: ({ times: { completionStartTime, createdAt, updatedAt } }) => ({
    completionStartTime,
    createdAt,
    updatedAt,
  }),
  io: ({ row }) => ({ input: rawText(row.input), output: rawText(row.output) }),
  metadata: ({ row, expanded }) => ({ metadata: cutMetadata(row.metadata, expanded) }),
  model: ({ row, pricing }) => ({
    providedModelName: row.model,
    internalModelId: pricing?.modelId ?? null,
    modelParameters: jsonText(row.modelParametersJson) ?? {},
  }),
  usage: ({ row, pricing }) => ({
    usageDetails: jsonText(row.usageJson) ?? {},
    costDetails: jsonOf(costText(row, pricing)),
    totalCost: row.totalCost,
    usagePricingTierName: pricing?.tierName ?? null,
  }),
  prompt: ({ row }) => ({
    promptId: row.promptId,
    promptName: row.promptName,
    promptVersion: row.promptVersion,
  }),
  metrics: ({ times: { latency, timeToFirstToken } }) => ({ latency, timeToFirstToken }),
  trace_context: ({ row }) => ({
    tags: row.tags ?? [],
    release: row.release,
    traceName: row.traceName,
  }),
};

/** Returns a price in decimal notation, without an exponent. */
const priceText = (price: number | null): string | null =>
  price === null
    ? null
    : price
        .toFixed(15)
        .replace(/(\.\d*?)0+$/, '$1')
        .replace(/\.$/, '');

/** Returns the requested groups of an observation's members. */
export const viewParts = (shown: Shown, asked: ReadonlySet<ObservationGroup>) => {
  const { row, projectId } = shown;
  const times = timesOf(row);
  const pricing = readPricing(row.pricingJson);
  const shownPricing = asked.has('model') ? pricing : null;
  const core = {
    id: row.id,
    traceId: row.traceId,
    startTime: times.startTime,
    endTime: times.endTime,
    projectId,
    parentObservationId: row.parentId,
    type: row.type,
    modelId: shownPricing?.modelId ?? null,
    inputPrice: priceText(shownPricing?.inputPrice ?? null),
    outputPrice: priceText(shownPricing?.outputPrice ?? null),
    totalPrice: priceText(shownPricing?.totalPrice ?? null),
  };
  const hasHeavy = asked.has('io') || asked.has('metadata');
  const omitted = row.isCut && hasHeavy ? { omitted: ['input', 'output', 'metadata'] } : {};
  const read = { ...shown, times, pricing };
  return Object.assign(core, omitted, ...[...asked].map((group) => groups[group](read)));
};
