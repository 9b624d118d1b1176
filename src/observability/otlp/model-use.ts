/** Reads from a span its model, the parameters and the prompt of the model call, and usage and cost. */
import { isObject } from '#domain/json.ts';
import { parseTimeUs } from '../iso-time.ts';
import type { ObservationType } from '../object.ts';
import { readCost, readUsage } from '../usage.ts';
import { type Attributes, firstOf, parseLoose, recordOf, textOf, unquote } from './attributes.ts';
import { isAroundModels, modelNames } from './kind.ts';
import { cutText, type Given } from './ranked-values.ts';
import type { Span } from './span.ts';

/** Prefixes under which instrumentations report token counts. */
const prefixes = ['gen_ai.usage.', 'llm.token_count.', 'llm.usage.', 'ai.usage.'];

/** Names of the counts of all input, all output, and the total; the first name that a span has wins. */
const sides = {
  input: ['input_tokens', 'prompt_tokens', 'prompt', 'inputTokens', 'promptTokens', 'tokens'],
  output: ['output_tokens', 'completion_tokens', 'completion', 'outputTokens', 'completionTokens'],
  total: ['total_tokens', 'total', 'totalTokens'],
} as const;

const sideNames: ReadonlySet<string> = new Set(Object.values(sides).flat());

/**
 * Matches names of token counts that are a remainder, such as input without cached tokens. They are ignored, because
 * the remainder is computed here.
 */
const restNames =
  /^(?:input|output)TokenDetails\.(?:noCacheTokens|textTokens)$|uncached|non_?cached/i;

/**
 * Parts of the input or output count, recognized by words in their names, because instrumentations have dozens of names
 * for each part.
 */
const parts = [
  { name: 'input_cache_creation', words: /cach.*(?:creat|writ)|(?:creat|writ).*cach/i },
  { name: 'input_cached_tokens', words: /cach/i },
  { name: 'output_reasoning_tokens', words: /reason|thinking|thought/i },
] as const;

const wholeOf = (value: unknown): number | undefined => {
  const count = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value);
  const isNumber = typeof value === 'number' || typeof value === 'string';
  return isNumber && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
};

/** Returns the token counts of a span, keyed by their names without the prefix. */
const namedCounts = (attributes: Attributes): Map<string, number> => {
  const named = new Map<string, number>();
  for (const [key, value] of attributes) {
    const prefix = prefixes.find((one) => key.startsWith(one));
    const count = prefix === undefined ? undefined : wholeOf(value);
    if (prefix === undefined || count === undefined) continue;
    const name = key.slice(prefix.length);
    if (!/cost|price/i.test(name) && !named.has(name)) named.set(name, count);
  }
  return named;
};

/** Returns a whole count minus its parts that are counted separately; undefined if there is no whole count. */
const rest = (whole: number | undefined, taken: number): number | undefined =>
  whole === undefined ? undefined : Math.max(0, whole - taken);

/**
 * Returns the counts under the names of this service: input, output, total and the known parts. A count of any other
 * name keeps its name.
 */
const countsOf = (attributes: Attributes): Record<string, number | undefined> => {
  const named = namedCounts(attributes);
  const found = new Map<string, number>();
  for (const [name, count] of named) {
    if (sideNames.has(name) || restNames.test(name) || count === 0) continue;
    const part = parts.find(({ words }) => words.test(name))?.name ?? name;
    // Two names of the same part report the same count, or one of them reports a subset; the larger count is used.
    found.set(part, Math.max(found.get(part) ?? 0, count));
  }
  const takenOf = (side: string): number =>
    [...found].reduce((sum, [name, count]) => (name.startsWith(side) ? sum + count : sum), 0);
  const sideOf = (side: keyof typeof sides): number | undefined => {
    const name = sides[side].find((one) => named.has(one));
    return name === undefined ? undefined : named.get(name);
  };
  const [input, output] = [sideOf('input'), sideOf('output')];
  const known =
    input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0);
  return {
    ...Object.fromEntries(found),
    input: rest(input, takenOf('input')),
    output: rest(output, takenOf('output')),
    total: sideOf('total') ?? known,
  };
};

const usageOf = (attributes: Attributes): string | undefined => {
  const given = parseLoose(attributes.get('langfuse.observation.usage_details'));
  const usage = readUsage({ usageDetails: isObject(given) ? given : countsOf(attributes) });
  return usage === undefined ? undefined : JSON.stringify(usage);
};

const costOf = (attributes: Attributes): string | undefined => {
  const given = parseLoose(attributes.get('langfuse.observation.cost_details'));
  const costDetails = isObject(given)
    ? given
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

/** Returns parameters as a JSON object whose values are texts or numbers; any other value becomes its JSON text. */
const parametersText = (given: Record<string, unknown>): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value),
      ]),
    ),
  );

const parametersOf = (attributes: Attributes): string | undefined => {
  const given = parseLoose(firstOf(attributes, parameterNames));
  if (isObject(given)) return parametersText(given);
  const { model: _, ...asked } = recordOf(attributes, ['gen_ai.request']);
  const known = Object.keys(asked).length > 0 ? asked : recordOf(attributes, ['ai.settings']);
  return Object.keys(known).length === 0 ? undefined : parametersText(known);
};

/** Returns the time of the first token of the answer, in milliseconds since 1970. */
const completionOf = ({ attributes, startUs }: Span): number | undefined => {
  const given = unquote(attributes.get('langfuse.observation.completion_start_time'));
  const us = parseTimeUs(given);
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

/**
 * Returns true if the span is an invocation of an agent. The agent's model is called by other spans, not by this one.
 */
const isAgent = (attributes: Attributes): boolean =>
  textOf(attributes, ['gen_ai.operation.name']) === 'invoke_agent';

/**
 * Returns the fields of an observation that concern a model. It returns none for a span that contains the spans of
 * model calls, so that usage counts only once.
 */
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
