/**
 * Reads one span of OpenTelemetry to what it says of an observation and of its trace. Attributes of the SDKs of the
 * field go first, then the conventions of OpenTelemetry and OpenInference. A span is told of once, so the same span
 * that is sent again says the same.
 */
import { isObject } from '#domain/json.ts';
import { normalizeEnvironment } from '../environment.ts';
import { levels, type ObservationType, observationTypes } from '../object.ts';
import { cleanText, parseTimeUs, textLimits } from '../read-value.ts';
import { type Rank, rankOf, type State, type Value } from '../state.ts';
import { readCost, readUsage } from '../usage.ts';
import { type Attributes, firstOf, parseLoose, recordOf, textOf } from './attributes.ts';

/** A span in the form of OTLP's JSON, its attributes read. */
export type Span = {
  traceId: string;
  spanId: string;
  parentId: string | null;
  name: string;
  startUs: number;
  endUs: number;
  isError: boolean;
  statusMessage: string | null;
  attributes: Attributes;
  resource: Attributes;
};

export type SpanSaid = { id: string; traceId: string; observation: State; trace: State };

type Given = Readonly<Record<string, Value | undefined>>;

const rankAll = (given: Given, rank: Rank): State['values'] => {
  const values: Record<string, readonly [Rank, Value]> = {};
  for (const [field, value] of Object.entries(given)) {
    if (value !== undefined && value !== null) values[field] = [rank, value];
  }
  return values;
};

const cutText = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : cleanText(text.slice(0, textLimits.name));

const kinds: Readonly<Record<string, ObservationType>> = {
  LLM: 'GENERATION',
  CHAT: 'GENERATION',
  COMPLETION: 'GENERATION',
  TEXT_COMPLETION: 'GENERATION',
  GENERATE_CONTENT: 'GENERATION',
  GENERATE: 'GENERATION',
  EMBEDDINGS: 'EMBEDDING',
  INVOKE_AGENT: 'AGENT',
  CREATE_AGENT: 'AGENT',
  EXECUTE_TOOL: 'TOOL',
};

const modelNames = [
  'langfuse.observation.model.name',
  'gen_ai.response.model',
  'ai.model.id',
  'gen_ai.request.model',
  'llm.response.model',
  'llm.model_name',
  'model',
];

const kindNames = ['langfuse.observation.type', 'openinference.span.kind', 'gen_ai.operation.name'];

const typeOf = (attributes: Attributes): ObservationType => {
  for (const name of kindNames) {
    const word = textOf(attributes, [name])?.toUpperCase();
    if (word === undefined) continue;
    const known = observationTypes.find((one) => one === word);
    const found = known ?? (Object.hasOwn(kinds, word) ? kinds[word] : undefined);
    if (found !== undefined) return found;
  }
  if (firstOf(attributes, ['gen_ai.tool.name', 'gen_ai.tool.call.id']) !== undefined) return 'TOOL';
  return firstOf(attributes, modelNames) === undefined ? 'SPAN' : 'GENERATION';
};

const inputNames = [
  'langfuse.observation.input',
  'ai.prompt.messages',
  'ai.prompt',
  'ai.toolCall.args',
  'traceloop.entity.input',
  'input.value',
  'gen_ai.input.messages',
  'gen_ai.tool.call.arguments',
];
const outputNames = [
  'langfuse.observation.output',
  'ai.response.text',
  'ai.response.object',
  'ai.toolCall.result',
  'traceloop.entity.output',
  'output.value',
  'gen_ai.output.messages',
  'gen_ai.tool.call.result',
];

/** A value as the JSON text that is kept; a text that holds JSON as that JSON. */
const jsonOf = (value: unknown): string | undefined =>
  value === undefined ? undefined : JSON.stringify(parseLoose(value));

const usageOf = (attributes: Attributes): string | undefined => {
  const told = parseLoose(attributes.get('langfuse.observation.usage_details'));
  const usage = readUsage({
    usageDetails: isObject(told)
      ? told
      : {
          input: firstOf(attributes, [
            'gen_ai.usage.input_tokens',
            'gen_ai.usage.prompt_tokens',
            'llm.token_count.prompt',
          ]),
          output: firstOf(attributes, [
            'gen_ai.usage.output_tokens',
            'gen_ai.usage.completion_tokens',
            'llm.token_count.completion',
          ]),
          total: firstOf(attributes, ['gen_ai.usage.total_tokens', 'llm.token_count.total']),
        },
  });
  return usage === undefined ? undefined : JSON.stringify(usage);
};

const costOf = (attributes: Attributes): string | undefined => {
  const told = parseLoose(attributes.get('langfuse.observation.cost_details'));
  const total = firstOf(attributes, ['gen_ai.usage.cost', 'llm.cost.total']);
  const cost = readCost({ costDetails: isObject(told) ? told : { total } });
  return cost === undefined ? undefined : JSON.stringify(cost);
};

const parametersOf = (attributes: Attributes): string | undefined => {
  const told = parseLoose(
    firstOf(attributes, ['langfuse.observation.model.parameters', 'llm.invocation_parameters']),
  );
  if (isObject(told)) return JSON.stringify(told);
  const { model: _, ...asked } = recordOf(attributes, ['gen_ai.request']);
  return Object.keys(asked).length === 0 ? undefined : JSON.stringify(asked);
};

const environmentOf = ({ attributes, resource }: Span): string | undefined => {
  const names = ['langfuse.environment', 'deployment.environment.name', 'deployment.environment'];
  const given = textOf(attributes, names) ?? textOf(resource, names);
  return given === undefined ? undefined : normalizeEnvironment(given);
};

const versionOf = ({ attributes, resource }: Span): string | undefined =>
  cutText(textOf(attributes, ['langfuse.version']) ?? textOf(resource, ['service.version']));

const levelOf = ({ attributes, isError }: Span): Value => {
  const given = textOf(attributes, ['langfuse.observation.level'])?.toUpperCase();
  return levels.find((one) => one === given) ?? (isError ? 'ERROR' : 'DEFAULT');
};

/** Some SDKs send the time in quotes of its own. */
const completionOf = (attributes: Attributes): number | undefined => {
  const us = parseTimeUs(parseLoose(attributes.get('langfuse.observation.completion_start_time')));
  return us === undefined ? undefined : Math.floor(us / 1_000);
};

const promptOf = (attributes: Attributes, type: ObservationType): Given => {
  const name = textOf(attributes, ['langfuse.observation.prompt.name', 'langfuse.prompt.name']);
  const version = Number(
    firstOf(attributes, ['langfuse.observation.prompt.version', 'langfuse.prompt.version']),
  );
  const isWhole = Number.isSafeInteger(version) && version >= 0 && version < 2 ** 31;
  if (name === undefined || !isWhole || type !== 'GENERATION') return {};
  return { promptName: cutText(name), promptVersion: version };
};

const metadataOf = (record: Record<string, unknown>, rank: Rank): State['metadata'] =>
  Object.keys(record).length === 0 ? [] : [[rank, record]];

const readObservation = (span: Span, rank: Rank): State => {
  const { attributes } = span;
  const type = typeOf(attributes);
  const statusMessage =
    textOf(attributes, ['langfuse.observation.status_message']) ?? span.statusMessage ?? undefined;
  const given: Given = {
    type,
    name: cutText(textOf(attributes, ['gen_ai.tool.name', 'ai.toolCall.name']) ?? span.name),
    parentId: span.parentId,
    endTime: Math.floor(span.endUs / 1_000),
    completionStartTime: completionOf(attributes),
    level: levelOf(span),
    statusMessage: statusMessage === undefined ? undefined : cleanText(statusMessage),
    version: versionOf(span),
    environment: environmentOf(span),
    model: cutText(textOf(attributes, modelNames)),
    modelParametersJson: parametersOf(attributes),
    usageJson: usageOf(attributes),
    costJson: costOf(attributes),
    ...promptOf(attributes, type),
    input: jsonOf(firstOf(attributes, inputNames)),
    output: jsonOf(firstOf(attributes, outputNames)),
  };
  return {
    at: Math.floor(span.startUs / 1_000),
    guessedAt: Math.floor(span.startUs / 1_000),
    values: rankAll(given, rank),
    tags: [],
    metadata: metadataOf(recordOf(attributes, ['langfuse.observation.metadata']), rank),
  };
};

/** Tags as a list, as a list in JSON, or with commas between. */
const tagsOf = (attributes: Attributes): string[] => {
  const given = parseLoose(
    firstOf(attributes, [
      'langfuse.trace.tags',
      'langfuse.tags',
      'ai.telemetry.metadata.tags',
      'tag.tags',
    ]),
  );
  const list = typeof given === 'string' ? given.split(',') : Array.isArray(given) ? given : [];
  const texts = list.filter((one): one is string => typeof one === 'string');
  const tags = texts.map((text) => cleanText(text.trim().slice(0, textLimits.name)));
  return [...new Set(tags.filter((tag) => tag !== ''))].sort();
};

const isTrue = (value: unknown): boolean | undefined =>
  value === undefined ? undefined : value === true || value === 'true';

const readTrace = (span: Span, rank: Rank): State => {
  const { attributes, resource } = span;
  const isRoot = span.parentId === null || isTrue(attributes.get('langfuse.internal.as_root'));
  const given: Given = {
    name: cutText(textOf(attributes, ['langfuse.trace.name'])),
    userId: cutText(
      textOf(attributes, ['langfuse.user.id', 'user.id', 'ai.telemetry.metadata.userId']),
    ),
    sessionId: cutText(
      textOf(attributes, [
        'langfuse.session.id',
        'session.id',
        'gen_ai.conversation.id',
        'ai.telemetry.metadata.sessionId',
      ]),
    ),
    public: isTrue(firstOf(attributes, ['langfuse.trace.public', 'langfuse.public'])),
    release: cutText(
      textOf(attributes, ['langfuse.release']) ?? textOf(resource, ['langfuse.release']),
    ),
    version: versionOf(span),
    environment: environmentOf(span),
    input: jsonOf(attributes.get('langfuse.trace.input')),
    output: jsonOf(attributes.get('langfuse.trace.output')),
  };
  // What the root span is called, was asked and answered counts while nobody says so of the trace.
  const hints: Given = isRoot
    ? {
        name: cutText(span.name),
        input: jsonOf(firstOf(attributes, inputNames)),
        output: jsonOf(firstOf(attributes, outputNames)),
      }
    : {};
  const metadata = recordOf(attributes, ['langfuse.trace.metadata', 'langfuse.metadata']);
  return {
    at: Math.floor(span.startUs / 1_000),
    guessedAt: Math.floor(span.startUs / 1_000),
    values: {
      ...rankAll(hints, rankOf('hint', span.startUs, 0)),
      ...rankAll(given, rank),
    },
    tags: tagsOf(attributes),
    metadata: metadataOf(metadata, rank),
  };
};

/** What a span says. */
export const readSpan = (span: Span): SpanSaid => {
  const rank = rankOf('create', span.endUs, 0);
  return {
    id: span.spanId,
    traceId: span.traceId,
    observation: readObservation(span, rank),
    trace: readTrace(span, rank),
  };
};
