/** Which model a span asked, with what parameters and prompt, and what that used and cost. */
import { isObject } from '#domain/json.ts';
import { parseTimeUs } from '../iso-time.ts';
import type { ObservationType } from '../object.ts';
import { readCost, readUsage } from '../usage.ts';
import { type Attributes, firstOf, parseLoose, recordOf, textOf, unquote } from './attributes.ts';
import { isAroundModels, modelNames } from './kind.ts';
import { cutText, type Given } from './said.ts';
import type { Span } from './span.ts';

const counts = {
  input: [
    'gen_ai.usage.input_tokens',
    'gen_ai.usage.prompt_tokens',
    'llm.token_count.prompt',
    'llm.usage.prompt_tokens',
    'ai.usage.inputTokens',
    'ai.usage.promptTokens',
    'ai.usage.tokens',
  ],
  output: [
    'gen_ai.usage.output_tokens',
    'gen_ai.usage.completion_tokens',
    'llm.token_count.completion',
    'llm.usage.completion_tokens',
    'ai.usage.outputTokens',
    'ai.usage.completionTokens',
  ],
  total: [
    'gen_ai.usage.total_tokens',
    'llm.token_count.total',
    'llm.usage.total_tokens',
    'ai.usage.totalTokens',
  ],
  cacheRead: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.details.cache_read_tokens',
    'llm.token_count.prompt_details.cache_read',
    'ai.usage.cachedInputTokens',
  ],
  cacheWrite: [
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'gen_ai.usage.details.cache_write_tokens',
    'llm.token_count.prompt_details.cache_write',
  ],
  reasoning: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.details.reasoning_tokens',
    'llm.token_count.completion_details.reasoning',
    'ai.usage.reasoningTokens',
  ],
} as const;

const countOf = (attributes: Attributes, side: keyof typeof counts): number | undefined => {
  const count = Number(firstOf(attributes, counts[side]));
  return Number.isSafeInteger(count) && count >= 0 ? count : undefined;
};

/** A whole, without its parts that are counted by themselves. */
const rest = (whole: number | undefined, ...parts: (number | undefined)[]): number | undefined =>
  whole === undefined
    ? undefined
    : Math.max(0, whole - parts.reduce<number>((sum, part) => sum + (part ?? 0), 0));

/** Counts by the names of conventions. */
const countsOf = (attributes: Attributes): Record<string, number | undefined> => {
  const cacheRead = countOf(attributes, 'cacheRead') || undefined;
  const cacheWrite = countOf(attributes, 'cacheWrite') || undefined;
  const reasoning = countOf(attributes, 'reasoning') || undefined;
  return {
    input: rest(countOf(attributes, 'input'), cacheRead, cacheWrite),
    input_cached_tokens: cacheRead,
    input_cache_creation: cacheWrite,
    output: rest(countOf(attributes, 'output'), reasoning),
    output_reasoning_tokens: reasoning,
    total: countOf(attributes, 'total'),
  };
};

const usageOf = (attributes: Attributes): string | undefined => {
  const told = parseLoose(attributes.get('langfuse.observation.usage_details'));
  const usage = readUsage({ usageDetails: isObject(told) ? told : countsOf(attributes) });
  return usage === undefined ? undefined : JSON.stringify(usage);
};

const costOf = (attributes: Attributes): string | undefined => {
  const told = parseLoose(attributes.get('langfuse.observation.cost_details'));
  const costDetails = isObject(told)
    ? told
    : {
        input: firstOf(attributes, ['gen_ai.usage.input_cost', 'llm.cost.prompt']),
        output: firstOf(attributes, ['gen_ai.usage.output_cost', 'llm.cost.completion']),
        total: firstOf(attributes, [
          'gen_ai.usage.cost',
          'gen_ai.usage.total_cost',
          'llm.cost.total',
        ]),
      };
  const cost = readCost({ costDetails });
  return cost === undefined ? undefined : JSON.stringify(cost);
};

const parameterNames = [
  'langfuse.observation.model.parameters',
  'llm.invocation_parameters',
  'model_config',
];

/** Returns parameters as the field shows them, a text or a number each: whatever else is told is its JSON text. */
const parametersText = (told: Record<string, unknown>): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(told).map(([name, value]) => [
        name,
        typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value),
      ]),
    ),
  );

const parametersOf = (attributes: Attributes): string | undefined => {
  const told = parseLoose(firstOf(attributes, parameterNames));
  if (isObject(told)) return parametersText(told);
  const { model: _, ...asked } = recordOf(attributes, ['gen_ai.request']);
  const known = Object.keys(asked).length > 0 ? asked : recordOf(attributes, ['ai.settings']);
  return Object.keys(known).length === 0 ? undefined : parametersText(known);
};

/** Milliseconds since 1970 at which the first of an answer was there. */
const completionOf = ({ attributes, startUs }: Span): number | undefined => {
  const told = unquote(attributes.get('langfuse.observation.completion_start_time'));
  const us = parseTimeUs(told);
  if (us !== undefined) return Math.floor(us / 1_000);
  const afterMs = Number(
    firstOf(attributes, ['ai.response.msToFirstChunk', 'ai.stream.msToFirstChunk']),
  );
  return afterMs >= 0 && afterMs < 2 ** 31 ? Math.floor(startUs / 1_000 + afterMs) : undefined;
};

const promptOf = (attributes: Attributes, type: ObservationType): Given => {
  const linked = parseLoose(attributes.get('ai.telemetry.metadata.langfusePrompt'));
  const link = isObject(linked) ? linked : {};
  const name =
    textOf(attributes, ['langfuse.observation.prompt.name', 'langfuse.prompt.name']) ?? link.name;
  const version = Number(
    firstOf(attributes, ['langfuse.observation.prompt.version', 'langfuse.prompt.version']) ??
      link.version,
  );
  const isWhole = Number.isSafeInteger(version) && version >= 0 && version < 2 ** 31;
  if (typeof name !== 'string' || !isWhole || type !== 'GENERATION') return {};
  return { promptName: cutText(name), promptVersion: version };
};

/** An agent is no model, though it names the one that it is made of. */
const isAgent = (attributes: Attributes): boolean =>
  textOf(attributes, ['gen_ai.operation.name']) === 'invoke_agent';

/** The fields of an observation that tell of a model. What a span is around tells of it itself, once. */
export const modelUseOf = (span: Span, type: ObservationType): Given => {
  const { attributes } = span;
  if (isAroundModels(attributes)) return {};
  return {
    completionStartTime: completionOf(span),
    model: isAgent(attributes) ? undefined : cutText(textOf(attributes, modelNames)),
    modelParametersJson: parametersOf(attributes),
    usageJson: usageOf(attributes),
    costJson: costOf(attributes),
    ...promptOf(attributes, type),
  };
};
