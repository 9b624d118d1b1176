/** Derives the type, name, level and status message of an observation from a span, by each convention. */
import { type Level, levels, type ObservationType, observationTypes } from '../object.ts';
import { type Attributes, firstOf, textOf } from './attributes.ts';
import type { Span } from './span.ts';

/** Upper-case words for types of observations, in addition to the names of the types. */
const words: Readonly<Record<string, ObservationType>> = {
  // OpenInference
  LLM: 'GENERATION',
  RERANKER: 'RETRIEVER',
  // The GenAI conventions of OpenTelemetry
  CHAT: 'GENERATION',
  COMPLETION: 'GENERATION',
  TEXT_COMPLETION: 'GENERATION',
  GENERATE_CONTENT: 'GENERATION',
  GENERATE: 'GENERATION',
  EMBEDDINGS: 'EMBEDDING',
  INVOKE_AGENT: 'AGENT',
  CREATE_AGENT: 'AGENT',
  EXECUTE_TOOL: 'TOOL',
  // Traceloop
  WORKFLOW: 'CHAIN',
  RERANK: 'RETRIEVER',
  // Genkit
  MODEL: 'GENERATION',
  EMBEDDER: 'EMBEDDING',
  FLOW: 'CHAIN',
};

const wordNames = [
  'langfuse.observation.type',
  'openinference.span.kind',
  'gen_ai.operation.name',
  'genkit:metadata:subtype',
  'genkit:type',
  'traceloop.span.kind',
  'llm.request.type',
];

export const modelNames = [
  'langfuse.observation.model.name',
  'gen_ai.response.model',
  'ai.model.id',
  'gen_ai.request.model',
  'llm.response.model',
  'llm.model_name',
  'model',
];

/** Attributes whose presence makes a span a generation. An older SDK reports every observation as a span. */
const generationNames = [
  'langfuse.observation.model.name',
  'langfuse.observation.model.parameters',
  'langfuse.observation.usage_details',
  'langfuse.observation.cost_details',
  'langfuse.observation.completion_start_time',
  'langfuse.observation.prompt.name',
];

/**
 * Returns the operation of Vercel's AI SDK that a span reports. A span `ai.generateText` contains a span
 * `ai.generateText.doGenerate` for each step.
 */
const operationOf = (attributes: Attributes): string | undefined =>
  textOf(attributes, ['ai.operationId']);

const vercelType = (operation: string): ObservationType => {
  if (operation.startsWith('ai.toolCall')) return 'TOOL';
  if (!operation.includes('.do')) return operation.includes('embed') ? 'SPAN' : 'CHAIN';
  if (operation.startsWith('ai.rerank')) return 'RETRIEVER';
  return operation.startsWith('ai.embed') ? 'EMBEDDING' : 'GENERATION';
};

/** Returns true if the span contains spans of model calls that report model and usage themselves. */
export const isAroundModels = (attributes: Attributes): boolean => {
  if (attributes.get('langfuse.observation.type') !== undefined) return false;
  const operation = operationOf(attributes);
  return operation?.startsWith('ai.') === true && !operation.includes('.do');
};

const typeOfWord = (word: string): ObservationType | undefined => {
  const upper = word.toUpperCase();
  const known = observationTypes.find((one) => one === upper);
  return known ?? (Object.hasOwn(words, upper) ? words[upper] : undefined);
};

export const typeOf = (attributes: Attributes): ObservationType => {
  const operation = operationOf(attributes);
  for (const name of wordNames) {
    const word = textOf(attributes, [name]);
    const type = word === undefined ? undefined : typeOfWord(word);
    if (type === 'SPAN' && firstOf(attributes, generationNames) !== undefined) return 'GENERATION';
    if (type !== undefined) return type;
  }
  if (operation?.startsWith('ai.')) return vercelType(operation);
  if (firstOf(attributes, ['gen_ai.tool.name', 'gen_ai.tool.call.id']) !== undefined) return 'TOOL';
  return firstOf(attributes, modelNames) === undefined ? 'SPAN' : 'GENERATION';
};

const nameNames = [
  'gen_ai.tool.name',
  'genkit:name',
  'logfire.msg',
  'ai.toolCall.name',
  'ai.operationId',
];

/**
 * Returns the name that an instrumentation gives explicitly, else the name of the span, which may contain ids or
 * arguments.
 */
export const nameOf = ({ attributes, name }: Span): string => textOf(attributes, nameNames) ?? name;

export const levelOf = ({ attributes, isError }: Span): Level => {
  const given = textOf(attributes, ['langfuse.observation.level'])?.toUpperCase();
  return levels.find((one) => one === given) ?? (isError ? 'ERROR' : 'DEFAULT');
};

/**
 * Returns the error message of a span: the status message if there is one, else the message of the exception if the
 * span failed.
 */
export const statusMessageOf = (span: Span): string | undefined => {
  const { attributes, events, isError, statusMessage } = span;
  const given = textOf(attributes, ['langfuse.observation.status_message']) ?? statusMessage;
  if (given !== null || !isError) return given ?? undefined;
  const exception = events.find(({ name }) => name === 'exception');
  return exception && textOf(exception.attributes, ['exception.message', 'exception.type']);
};
