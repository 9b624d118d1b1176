/**
 * Finds the input and the output of a span. Each convention has its own names for them: one attribute, events, or
 * numbered attributes. For input and for output, the first lookup that finds a value wins.
 */
import { type Attributes, firstOf, noAttributes, parseLoose, parseWritten } from './attributes.ts';
import { gather } from './numbered.ts';
import type { Span } from './span.ts';

type Side = 'input' | 'output';

/** A value, and the names of the span's attributes that hold it. */
type Found = { value: unknown; names: readonly string[] };

type Look = (span: Span) => Found | undefined;

const attribute =
  (...names: readonly string[]): Look =>
  ({ attributes }) => {
    const name = names.find((one) => firstOf(attributes, [one]) !== undefined);
    if (name === undefined) return undefined;
    const parse = name.startsWith('langfuse.') ? parseWritten : parseLoose;
    return { value: parse(attributes.get(name)), names: [name] };
  };

/** Finds the answer of Vercel's AI SDK: a text, tool calls or both. */
const vercelAnswer: Look = ({ attributes }) => {
  const textNames = ['ai.response.text', 'ai.result.text'];
  const callNames = ['ai.response.toolCalls', 'ai.result.toolCalls'];
  const text = firstOf(attributes, textNames);
  const toolCalls = parseLoose(firstOf(attributes, callNames));
  if (toolCalls === undefined) return attribute(...textNames)({ attributes } as Span);
  const value = text === undefined ? { toolCalls } : { text: parseLoose(text), toolCalls };
  return { value, names: [...textNames, ...callNames] };
};

/** Builds a lookup of an attribute of the first event with this name. */
const ofEvent =
  (event: string, ...names: readonly string[]): Look =>
  ({ events }) => {
    const found = events.find(({ name }) => name === event);
    const value = found && firstOf(found.attributes, names);
    return value === undefined ? undefined : { value: parseLoose(value), names: [] };
  };

const plain = (attributes: Attributes): Record<string, unknown> =>
  Object.fromEntries([...attributes].map(([name, value]) => [name, parseLoose(value)]));

const roleForm = /^gen_ai\.(system|user|assistant|tool)\.message$/;

/** Finds messages to the model that are reported as events, one event for each message. */
const askedByEvents: Look = ({ events }) => {
  const messages = events.flatMap(({ name, attributes }) => {
    const [, role] = roleForm.exec(name) ?? [];
    return role === undefined ? [] : [{ role, ...plain(attributes) }];
  });
  return messages.length === 0 ? undefined : { value: messages, names: [] };
};

const answeredByEvents: Look = ({ events }) => {
  const choices = events.filter(({ name }) => name === 'gen_ai.choice');
  const [first] = choices;
  if (first === undefined) return undefined;
  const value =
    choices.length === 1 ? plain(first.attributes) : choices.map((one) => plain(one.attributes));
  return { value, names: [] };
};

const numbered =
  (prefix: string): Look =>
  ({ attributes }) =>
    gather(attributes, prefix);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/**
 * Removes the wrappers of OpenInference, which puts each message into a member `message` and each tool call into a
 * member `tool_call`.
 */
const unwrap = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unwrap);
  if (!isRecord(value)) return value;
  const [[name, inner] = ['', undefined], ...others] = Object.entries(value);
  const isWrapped = ['message', 'tool_call', 'message_content'].includes(name);
  if (isWrapped && others.length === 0) return unwrap(inner);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unwrap(member)]));
};

const openInference =
  (prefix: string): Look =>
  ({ attributes }) => {
    const found = gather(attributes, prefix);
    return found && { ...found, value: unwrap(found.value) };
  };

const inputMessages = 'gen_ai.input.messages';
const instructions = 'gen_ai.system_instructions';

/** Returns the messages sent to the model, with its system instructions as the first message. */
const asked = (attributes: Attributes): unknown => {
  const messages = parseLoose(firstOf(attributes, [inputMessages]));
  const given = parseLoose(firstOf(attributes, [instructions]));
  if (messages === undefined || given === undefined) return messages ?? given;
  const system = {
    role: 'system',
    ...(Array.isArray(given) ? { parts: given } : { content: given }),
  };
  return [system, ...(Array.isArray(messages) ? messages : [messages])];
};

const askedByMessages: Look = ({ attributes }) => {
  const value = asked(attributes);
  return value === undefined ? undefined : { value, names: [inputMessages, instructions] };
};

const details = 'gen_ai.client.inference.operation.details';

const askedByDetails: Look = ({ events }) => {
  const event = events.find(({ name }) => name === details);
  const value = asked(event?.attributes ?? noAttributes);
  return value === undefined ? undefined : { value, names: [] };
};

/** Lookups for input and for output, in order of precedence. */
const looks: Readonly<Record<Side, readonly Look[]>> = {
  input: [
    attribute('langfuse.observation.input'),
    attribute('genkit:input'),
    attribute('ai.prompt.messages', 'ai.prompt', 'ai.toolCall.args', 'ai.value', 'ai.values'),
    askedByDetails,
    askedByEvents,
    ofEvent('gen_ai.content.prompt', 'gen_ai.prompt'),
    attribute('gcp.vertex.agent.llm_request', 'gcp.vertex.agent.tool_call_args'),
    attribute('prompt', 'all_messages_events'),
    attribute('lk.user_input', 'lk.chat_ctx', 'lk.input_text', 'lk.function_tool.arguments'),
    attribute('mlflow.spanInputs'),
    attribute('traceloop.entity.input'),
    attribute('input.value'),
    attribute('input'),
    attribute('pydantic_ai.all_messages'),
    attribute('tool_arguments'),
    numbered('gen_ai.prompt.'),
    attribute('gen_ai.prompt'),
    openInference('llm.input_messages.'),
    askedByMessages,
    attribute('gen_ai.tool.call.arguments'),
  ],
  output: [
    attribute('langfuse.observation.output'),
    attribute('genkit:output'),
    vercelAnswer,
    attribute('ai.response.object', 'ai.result.object', 'ai.toolCall.result'),
    ofEvent(details, 'gen_ai.output.messages'),
    answeredByEvents,
    ofEvent('gen_ai.content.completion', 'gen_ai.completion'),
    attribute('gcp.vertex.agent.llm_response', 'gcp.vertex.agent.tool_response'),
    attribute('lk.response.text', 'lk.function_tool.output'),
    attribute('mlflow.spanOutputs'),
    attribute('traceloop.entity.output'),
    attribute('output.value'),
    attribute('output'),
    attribute('final_result', 'pydantic_ai.final_result'),
    attribute('tool_response'),
    numbered('gen_ai.completion.'),
    attribute('gen_ai.completion'),
    openInference('llm.output_messages.'),
    attribute('gen_ai.output.messages'),
    attribute('gen_ai.tool.call.result'),
  ],
};

const lookFor = (span: Span, side: Side): Found | undefined => {
  for (const look of looks[side]) {
    const found = look(span);
    if (found !== undefined) return found;
  }
  return undefined;
};

export type InputOutput = {
  /** Input as JSON text; undefined if the span has no input. */
  input: string | undefined;
  output: string | undefined;
  /** Names of the attributes that hold the input and the output. */
  names: ReadonlySet<string>;
};

/** Returns the input and the output of a span, each undefined if the span has none. */
export const inputOutputOf = (span: Span): InputOutput => {
  const [input, output] = [lookFor(span, 'input'), lookFor(span, 'output')];
  return {
    input: input && JSON.stringify(input.value),
    output: output && JSON.stringify(output.value),
    names: new Set([...(input?.names ?? []), ...(output?.names ?? [])]),
  };
};
