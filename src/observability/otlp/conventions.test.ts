/**
 * Golden tests of the reading of spans: one test for each convention, with attributes as the convention's
 * instrumentations write them.
 */
import { expect, it } from 'vitest';
import { type Attributes, fieldsOf, start } from '#test/support/control/span-fields.ts';

it('Langfuse SDKs: numbers and booleans that are written as JSON keep all digits', () => {
  const output = (text: string) =>
    fieldsOf({ attributes: { 'langfuse.observation.output': text } }).output;
  expect(['2', 'true', '2.50', '12345678901234567890', 'two'].map(output)).toEqual([
    ...[2, true, '2.50', '12345678901234567890', 'two'],
  ]);
  expect(fieldsOf({ attributes: { 'input.value': '2' } }).input).toBe('2');
});

it('Langfuse SDKs: attributes set every field of the observation and its trace', () => {
  const fields = fieldsOf({
    name: 'answer',
    scope: 'langfuse-sdk',
    resource: { 'service.name': 'agent', 'langfuse.environment': 'Langfuse-Prod' },
    attributes: {
      'langfuse.observation.type': 'generation',
      'langfuse.observation.level': 'WARNING',
      'langfuse.observation.status_message': 'slow',
      'langfuse.observation.input': '[{"role":"user","content":"hi"}]',
      'langfuse.observation.output': '"quoted"',
      'langfuse.observation.model.name': 'model-1',
      'langfuse.observation.model.parameters': '{"temperature":0.5}',
      'langfuse.observation.usage_details': '{"input":3,"output":4,"cache_read":1}',
      'langfuse.observation.cost_details': '{"input":0.25,"output":0.5}',
      'langfuse.observation.completion_start_time': '"2026-03-01T00:00:00.250Z"',
      'langfuse.observation.prompt.name': 'greeting',
      'langfuse.observation.prompt.version': 3,
      'langfuse.observation.metadata.a': '{"x":1}',
      'langfuse.observation.metadata.b': 'TI',
      'langfuse.observation.metadata.c': '7',
      'langfuse.observation.metadata.d': '1.10',
      'langfuse.observation.metadata.e': 'true',
      'langfuse.trace.name': 'chat',
      'langfuse.trace.tags': ['b', 'a'],
      'langfuse.trace.public': true,
      'langfuse.trace.metadata.plan': 'free',
      'langfuse.trace.input': '{"q":1}',
      'langfuse.release': 'r1',
      'langfuse.version': 'v2',
      'user.id': 'ann',
      'session.id': 's1',
      'langfuse.experiment.id': 'e1',
    },
  });
  expect(fields).toEqual({
    type: 'GENERATION',
    name: 'answer',
    level: 'WARNING',
    statusMessage: 'slow',
    model: 'model-1',
    parameters: { temperature: 0.5 },
    usage: { input: 3, output: 4, cache_read: 1, total: 8 },
    cost: { input: 0.25, output: 0.5, total: 0.75 },
    completionStartTime: start + 250,
    prompt: ['greeting', 3],
    input: [{ role: 'user', content: 'hi' }],
    output: '"quoted"',
    environment: 'prod',
    version: 'v2',
    metadata: {
      resourceAttributes: { 'service.name': 'agent', 'langfuse.environment': 'Langfuse-Prod' },
      scope: { name: 'langfuse-sdk' },
      experiment: { id: 'e1' },
      a: { x: 1 },
      b: 'TI',
      c: 7,
      d: '1.10',
      e: true,
    },
    trace: {
      name: 'chat',
      userId: 'ann',
      sessionId: 's1',
      release: 'r1',
      public: true,
      input: '{"q":1}',
      tags: ['a', 'b'],
      metadata: { plan: 'free' },
    },
  });
});

it('older Langfuse SDKs: a span with a model is a generation', () => {
  const attributes = {
    'langfuse.observation.type': 'span',
    'langfuse.observation.model.name': 'model-1',
  };
  expect(fieldsOf({ attributes }).type).toBe('GENERATION');
  expect(fieldsOf({ attributes: { 'langfuse.observation.type': 'span' } }).type).toBe('SPAN');
});

const messages = '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]';

it('GenAI: message attributes become the input, which begins with the system instructions, and the output', () => {
  const fields = fieldsOf({
    name: 'chat model-1',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'model-1',
      'gen_ai.response.model': 'model-1-2026',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.stop_sequences': ['x'],
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.cache_read.input_tokens': 60,
      'gen_ai.usage.cache_creation.input_tokens': 10,
      'gen_ai.usage.output_tokens': 20,
      'gen_ai.system_instructions': '[{"type":"text","content":"be kind"}]',
      'gen_ai.input.messages': messages,
      'gen_ai.output.messages': '[{"role":"assistant","parts":[]}]',
      'gen_ai.conversation.id': 'c1',
    },
  });
  expect(fields).toMatchObject({
    type: 'GENERATION',
    name: 'chat model-1',
    model: 'model-1-2026',
    parameters: { temperature: 0.5, stop_sequences: '["x"]' },
    usage: {
      input: 30,
      input_cached_tokens: 60,
      input_cache_creation: 10,
      output: 20,
      total: 120,
    },
    input: [
      { role: 'system', parts: [{ type: 'text', content: 'be kind' }] },
      { role: 'user', parts: [{ type: 'text', content: 'hi' }] },
    ],
    output: [{ role: 'assistant', parts: [] }],
    trace: { sessionId: 'c1' },
  });
  const { attributes } = fields.metadata as { attributes: Record<string, unknown> };
  expect(attributes['gen_ai.provider.name']).toBe('openai');
  expect(attributes).not.toHaveProperty('gen_ai.input.messages');
});

it('GenAI: message events of both forms become input and output', () => {
  const events = [
    { name: 'gen_ai.system.message', attributes: { content: 'be kind' } },
    { name: 'gen_ai.user.message', attributes: { content: 'hi' } },
    { name: 'gen_ai.choice', attributes: { index: 0, message: '{"content":"hello"}' } },
  ];
  expect(fieldsOf({ events })).toMatchObject({
    input: [
      { role: 'system', content: 'be kind' },
      { role: 'user', content: 'hi' },
    ],
    output: { index: 0, message: { content: 'hello' } },
  });
  const details = {
    name: 'gen_ai.client.inference.operation.details',
    attributes: { 'gen_ai.input.messages': messages, 'gen_ai.output.messages': '[]' },
  };
  expect(fieldsOf({ events: [details] })).toMatchObject({
    input: JSON.parse(messages),
    output: [],
  });
});

it('GenAI: the operation of a span makes it a tool, an agent or an embedding', () => {
  const tool = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'search',
    'gen_ai.tool.call.arguments': '{"q":"x"}',
    'gen_ai.tool.call.result': 'nothing',
  };
  expect(fieldsOf({ name: 'execute_tool search', attributes: tool })).toMatchObject({
    type: 'TOOL',
    name: 'search',
    input: { q: 'x' },
    output: 'nothing',
  });
  const agent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.request.model': 'model-1' };
  const fields = fieldsOf({ attributes: agent });
  expect([fields.type, fields.model]).toEqual(['AGENT', undefined]);
  expect(fieldsOf({ attributes: { 'gen_ai.operation.name': 'embeddings' } }).type).toBe(
    'EMBEDDING',
  );
});

it('OpenInference: kinds, values, numbered messages, tokens and cost are read', () => {
  const attributes = {
    'openinference.span.kind': 'LLM',
    'llm.model_name': 'model-1',
    'llm.invocation_parameters': '{"temperature":0.1}',
    'llm.input_messages.0.message.role': 'system',
    'llm.input_messages.0.message.content': 'be kind',
    'llm.input_messages.1.message.role': 'user',
    'llm.input_messages.1.message.contents.0.message_content.type': 'text',
    'llm.output_messages.0.message.role': 'assistant',
    'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'search',
    'llm.token_count.prompt': 10,
    'llm.token_count.prompt_details.cache_read': 4,
    'llm.token_count.completion': 5,
    'llm.token_count.completion_details.reasoning': 2,
    'llm.token_count.total': 15,
    'llm.cost.total': 0.5,
    metadata: '{"plan":"free"}',
    'tag.tags': ['x'],
    'session.id': 's1',
  };
  expect(fieldsOf({ attributes })).toMatchObject({
    type: 'GENERATION',
    model: 'model-1',
    parameters: { temperature: 0.1 },
    input: [
      { role: 'system', content: 'be kind' },
      { role: 'user', contents: [{ type: 'text' }] },
    ],
    output: [{ role: 'assistant', tool_calls: [{ function: { name: 'search' } }] }],
    usage: {
      input: 6,
      input_cached_tokens: 4,
      output: 3,
      output_reasoning_tokens: 2,
      total: 15,
    },
    cost: { total: 0.5 },
    metadata: { plan: 'free' },
    trace: { sessionId: 's1', tags: ['x'] },
  });
  const kinds = ['EMBEDDING', 'CHAIN', 'RETRIEVER', 'AGENT', 'TOOL', 'GUARDRAIL', 'EVALUATOR'];
  for (const kind of kinds) {
    const spoken = { 'openinference.span.kind': kind, 'input.value': '{"a":1}' };
    expect(fieldsOf({ attributes: spoken })).toMatchObject({ type: kind, input: { a: 1 } });
  }
});

it("Vercel's AI SDK: the spans of steps have model and usage, and the spans that contain them have neither", () => {
  const around = fieldsOf({
    name: 'ai.generateText',
    attributes: {
      'ai.operationId': 'ai.generateText',
      'ai.model.id': 'model-1',
      'ai.usage.promptTokens': 10,
      'ai.prompt': '{"prompt":"hi"}',
      'ai.response.text': 'hello',
      'ai.telemetry.metadata.userId': 'ann',
      'ai.telemetry.metadata.sessionId': 's1',
      'ai.telemetry.metadata.tags': ['t'],
      'ai.telemetry.metadata.plan': 'free',
    },
  });
  expect(around).toMatchObject({
    type: 'CHAIN',
    input: { prompt: 'hi' },
    output: 'hello',
    trace: { userId: 'ann', sessionId: 's1', tags: ['t'], metadata: { plan: 'free' } },
  });
  expect([around.model, around.usage]).toEqual([undefined, undefined]);
  const step = fieldsOf({
    attributes: {
      'ai.operationId': 'ai.streamText.doStream',
      'ai.model.id': 'model-1',
      'ai.prompt.messages': '[{"role":"user"}]',
      'ai.response.toolCalls': '[{"toolName":"search"}]',
      'ai.response.msToFirstChunk': 120.5,
      'ai.settings.temperature': 0.5,
      'ai.usage.inputTokens': 10,
      'ai.usage.outputTokens': 5,
      'ai.telemetry.metadata.langfusePrompt': '{"name":"greeting","version":2}',
    },
  });
  expect(step).toMatchObject({
    type: 'GENERATION',
    name: 'ai.streamText.doStream',
    model: 'model-1',
    parameters: { temperature: 0.5 },
    usage: { input: 10, output: 5, total: 15 },
    completionStartTime: start + 120,
    prompt: ['greeting', 2],
    input: [{ role: 'user' }],
    output: { toolCalls: [{ toolName: 'search' }] },
  });
  const tool = {
    'ai.operationId': 'ai.toolCall',
    'ai.toolCall.name': 'search',
    'ai.toolCall.args': '{"q":1}',
    'ai.toolCall.result': '[2]',
  };
  expect(fieldsOf({ attributes: tool })).toMatchObject({
    type: 'TOOL',
    name: 'search',
    input: { q: 1 },
    output: [2],
  });
});

it('Traceloop: entities, numbered prompts and association properties are read', () => {
  const workflow = {
    'traceloop.span.kind': 'workflow',
    'traceloop.entity.input': '{"inputs":{}}',
    'traceloop.entity.output': '"done"',
    'traceloop.association.properties.user_id': 'ann',
    'traceloop.association.properties.session_id': 's1',
  };
  expect(fieldsOf({ attributes: workflow })).toMatchObject({
    type: 'CHAIN',
    input: { inputs: {} },
    trace: { userId: 'ann', sessionId: 's1' },
  });
  const chat = {
    'llm.request.type': 'chat',
    'gen_ai.prompt.1.content': 'hi',
    'gen_ai.prompt.1.role': 'user',
    'gen_ai.prompt.0.role': 'system',
    'gen_ai.completion.0.content': 'hello',
    'gen_ai.usage.prompt_tokens': 3,
    'gen_ai.usage.completion_tokens': 4,
    'llm.usage.total_tokens': 7,
  };
  expect(fieldsOf({ attributes: chat })).toMatchObject({
    type: 'GENERATION',
    input: [{ role: 'system' }, { content: 'hi', role: 'user' }],
    output: [{ content: 'hello' }],
    usage: { input: 3, output: 4, total: 7 },
  });
});

it.each([
  ['Genkit', { 'genkit:input': '{"a":1}', 'genkit:output': '2' }, { a: 1 }, '2'],
  ['MLflow', { 'mlflow.spanInputs': '{"a":1}', 'mlflow.spanOutputs': '[]' }, { a: 1 }, []],
  ['LiveKit', { 'lk.user_input': 'hi', 'lk.response.text': 'ho' }, 'hi', 'ho'],
  ['Pydantic AI', { 'pydantic_ai.all_messages': '[1]', final_result: 'ok' }, [1], 'ok'],
  [
    'Vertex',
    { 'gcp.vertex.agent.llm_request': '{}', 'gcp.vertex.agent.llm_response': '{}' },
    {},
    {},
  ],
  ['plain names', { input: 'a', output: '{"b":1}' }, 'a', { b: 1 }],
])('%s: attributes set input and output', (_, attributes, input, output) => {
  expect(fieldsOf({ attributes: attributes as unknown as Attributes })).toMatchObject({
    input,
    output,
  });
});

it('a failed span has the message of its status, or of its exception if the status has none', () => {
  const status = { code: 2, message: 'too slow' };
  expect(fieldsOf({ status })).toMatchObject({ level: 'ERROR', statusMessage: 'too slow' });
  const events = [{ name: 'exception', attributes: { 'exception.message': 'broken' } }];
  expect(fieldsOf({ status: { code: 2 }, events })).toMatchObject({ statusMessage: 'broken' });
  expect(fieldsOf({ events })).toMatchObject({ level: 'DEFAULT', statusMessage: undefined });
});

it('frameworks: user, session and tags are read from their metadata', () => {
  const attributes = {
    'langsmith.metadata.langfuse_user_id': 'ann',
    'langsmith.metadata.langfuse_session_id': 's1',
    'langsmith.metadata.langfuse_tags': 'a, b',
  };
  expect(fieldsOf({ attributes }).trace).toMatchObject({
    userId: 'ann',
    sessionId: 's1',
    tags: ['a', 'b'],
  });
});

it('a root span sets name and input of its trace', () => {
  const attributes = { 'input.value': 'hi' };
  const root = fieldsOf({ name: 'run', parentSpanId: '', attributes });
  expect(root.trace).toMatchObject({ name: 'run', input: '"hi"' });
  expect(fieldsOf({ name: 'run', attributes }).trace).toMatchObject({ name: undefined });
});

it('hostile values are kept as plain data, or left out', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const fields = fieldsOf({
    attributes: {
      'input.value': deep,
      'langfuse.observation.metadata.__proto__': '{"polluted":1}',
      'gen_ai.prompt.999999999.content': 'far',
      [`gen_ai.completion.0${'.a'.repeat(5_000)}`]: 'deep',
      'gen_ai.usage.input_tokens': 'many',
      'gen_ai.usage.output_tokens': -4,
    },
  });
  expect(fields.input === deep).toBe(true);
  expect(fields.usage).toBe(undefined);
  expect(Object.hasOwn(fields.metadata ?? {}, '__proto__')).toBe(true);
  expect(({} as { polluted?: number }).polluted).toBe(undefined);
});

it('model parameters that are neither texts nor numbers become their JSON text', () => {
  const given = {
    max_tokens: '1000',
    temperature: 0.9,
    stop: ['a', 'b'],
    stream: true,
    seed: null,
  };
  const shown = { ...given, stop: '["a","b"]', stream: 'true', seed: 'null' };
  const parametersBy = (attributes: Attributes) => fieldsOf({ attributes }).parameters;
  for (const name of [
    'langfuse.observation.model.parameters',
    'llm.invocation_parameters',
    'model_config',
  ]) {
    expect(parametersBy({ [name]: JSON.stringify(given) }), name).toEqual(shown);
  }
  expect(parametersBy({ 'gen_ai.request.stop_sequences': ['a', 'b'] })).toEqual({
    stop_sequences: '["a","b"]',
  });
});
