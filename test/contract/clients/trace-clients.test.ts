/**
 * Unmodified clients for traces besides the one in `trace-sdk.test.ts`, used as their documentation
 * shows: the current SDK for JavaScript, three generations of the one for Python, and OpenTelemetry
 * exporters in both languages and both formats. Each of their requests is checked against the
 * OpenAPI document.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LangfuseClient } from '@langfuse/client';
import { LangfuseSpanProcessor } from '@langfuse/otel';
import {
  propagateAttributes,
  setLangfuseTracerProvider,
  startActiveObservation,
} from '@langfuse/tracing';
import { context, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { getTrace } from '#wire/public-api/operations.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';
import { type Between, checkerOf, downFor, type Fate, startBetween } from './between.ts';
import { findPythonWith, type Missing, type Program } from './packages.ts';

const run = promisify(execFile);
const program = (list: string, file: string) =>
  findPythonWith(list, join(import.meta.dirname, 'python', file));
const [two, three, four, exporter] = await Promise.all([
  program('langfuse-2', 'with_langfuse_2.py'),
  program('langfuse-3', 'with_langfuse.py'),
  program('langfuse-4', 'with_langfuse.py'),
  program('langfuse-4', 'with_otlp_exporter.py'),
]);

let control: OwnControl;
let service: string;
let check: ReturnType<typeof checkerOf>;

beforeAll(async () => {
  control = await startOwnControl();
  service = control.running.addresses.public[0] ?? '';
  const document = await (await fetch(`${service}/api/public/openapi.json`)).json();
  check = checkerOf(document as Parameters<typeof checkerOf>[0]);
});

afterAll(() => control.stop());

/** Runs work through a recording proxy, and checks the recorded requests against the document. */
const through = async <Value>(
  work: (between: Between) => Promise<Value>,
  fateOf?: (before: number) => Fate,
): Promise<Value> => {
  const between = await startBetween(service, fateOf);
  try {
    const value = await work(between);
    const wrong = between.noted.flatMap((one) =>
      check(one).map((what) => `${one.method} ${one.path}: ${what}`),
    );
    expect(wrong).toEqual([]);
    expect(between.noted.length).toBeGreaterThan(0);
    return value;
  } finally {
    await between.stop();
  }
};

const runProgram = async ({ command, args, env }: Program, url: string): Promise<string> => {
  const authorization = basicAuthorization(control.publicKey, control.secretKey);
  const settings = {
    LANGFUSE_HOST: url,
    LANGFUSE_BASE_URL: url,
    LANGFUSE_PUBLIC_KEY: control.publicKey,
    LANGFUSE_SECRET_KEY: control.secretKey,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/api/public/otel`,
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=${encodeURIComponent(authorization)}`,
  };
  const { stdout } = await run(command, args, { env: { ...env, ...settings } });
  return stdout.trim();
};

const read = async (id: string) => (await control.send(getTrace, { params: { traceId: id } })).body;

type Read = Awaited<ReturnType<typeof read>>;

/** Checks the trace that each SDK reports of the same agent. */
const expectChat = (body: Read, temperature: number | string = 0.5): void => {
  expect(body).toMatchObject({
    name: 'chat',
    userId: 'user-1',
    sessionId: 'session-1',
    input: { question: 'How many?' },
    output: 'Seven.',
    metadata: { plan: 'free' },
    tags: ['first', 'second'],
    release: 'r1',
  });
  const byName = new Map(body.observations.map((one) => [one.name, one]));
  const [retrieve, answer] = [byName.get('retrieve'), byName.get('answer')];
  expect(body.observations.filter(({ name }) => name !== 'chat')).toHaveLength(2);
  expect(retrieve).toMatchObject({ type: 'SPAN', input: { k: 3 }, metadata: { hits: 0 } });
  expect(answer).toMatchObject({
    type: 'GENERATION',
    parentObservationId: retrieve?.id,
    model: 'model-1',
    modelParameters: { temperature },
    input: [{ role: 'user', content: 'How many?' }],
    output: 'Seven.',
    usageDetails: { input: 12, output: 3, total: 15 },
  });
  expect(
    body.scores
      .map(({ name, value, stringValue, observationId }) => [
        name,
        stringValue ?? value,
        observationId,
      ])
      .sort(),
  ).toEqual([
    ['quality', 0.8, null],
    ['tone', 'friendly', answer?.id],
  ]);
};

const generations: Record<string, Program | Missing> = { 2: two, 3: three, 4: four };

describe('the SDK for Python', () => {
  for (const [generation, found] of Object.entries(generations)) {
    it.skipIf('missing' in found)(
      `of generation ${generation} sends a trace and reads it back at once`,
      { timeout: 120_000 },
      async () => {
        const result = await through(({ url }) => runProgram(found as Program, url));
        const { id } = JSON.parse(result) as { id: string };
        // The oldest SDK writes model parameters as texts.
        expectChat(await read(id), generation === '2' ? '0.5' : 0.5);
        expect(JSON.parse(result)).toMatchObject({ name: 'chat', tags: ['first', 'second'] });
      },
    );
  }
});

/** Reports the same agent with the current SDK; returns the id of the trace. */
const chat = async (url: string): Promise<string> => {
  const keys = { publicKey: control.publicKey, secretKey: control.secretKey, baseUrl: url };
  const processor = new LangfuseSpanProcessor({ ...keys, release: 'r1' });
  const provider = new NodeTracerProvider({ spanProcessors: [processor] });
  provider.register();
  setLangfuseTracerProvider(provider);
  const client = new LangfuseClient(keys);
  const said = {
    userId: 'user-1',
    sessionId: 'session-1',
    tags: ['first', 'second'],
    metadata: { plan: 'free' },
    traceName: 'chat',
  };
  try {
    const traceId = await propagateAttributes(said, () =>
      startActiveObservation('chat', async (root) => {
        root.update({ input: { question: 'How many?' } });
        const retrieve = root.startObservation('retrieve', {
          input: { k: 3 },
          metadata: { hits: 0 },
        });
        const answer = retrieve.startObservation(
          'answer',
          {
            model: 'model-1',
            modelParameters: { temperature: 0.5 },
            input: [{ role: 'user', content: 'How many?' }],
          },
          { asType: 'generation' },
        );
        answer.update({
          output: 'Seven.',
          completionStartTime: new Date(),
          usageDetails: { input: 12, output: 3, total: 15 },
        });
        client.score.observation(answer, { name: 'tone', value: 'friendly' });
        answer.end();
        retrieve.end();
        root.update({ output: 'Seven.' });
        client.score.trace(root, { name: 'quality', value: 0.8, comment: 'fine' });
        return root.traceId;
      }),
    );
    await processor.forceFlush();
    await client.score.flush();
    const whole = await client.api.trace.get(traceId);
    expect(whole.observations).toHaveLength(3);
    const listed = await client.api.trace.list({ userId: 'user-1', tags: ['first', 'second'] });
    expect(listed.data.map((one) => one.id)).toContain(traceId);
    const parts = await client.api.observations.getMany({ traceId, fields: 'core,basic,usage' });
    expect(parts.data).toHaveLength(3);
    const scores = await client.api.scores.getMany({ traceId });
    expect(scores.data).toHaveLength(2);
    return traceId;
  } finally {
    await client.shutdown();
    await provider.shutdown();
    setLangfuseTracerProvider(null);
    context.disable();
    trace.disable();
  }
};

describe('the SDK for JavaScript', () => {
  it('sends a trace and reads it back at once', async () => {
    const id = await through(({ url }) => chat(url));
    expectChat(await read(id));
    expect((await read(id)).observations.find((one) => one.name === 'answer')).toMatchObject({
      completionStartTime: expect.any(String),
    });
  });

  it('loses nothing and duplicates nothing when it is refused twice', async () => {
    expectChat(
      await read(
        await through(
          ({ url }) => chat(url),
          (before) => (before < 2 ? 503 : 'passed'),
        ),
      ),
    );
  });
});

/**
 * Sends nested spans of the GenAI conventions with an unmodified exporter; returns the id of the
 * trace.
 */
const runAgent = async (span: JsonExporter | ProtobufExporter): Promise<string> => {
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(span)] });
  const tracer = provider.getTracer('agent');
  const root = tracer.startSpan('run', { attributes: { 'session.id': 'session-1' } });
  const inside = trace.setSpan(context.active(), root);
  const child = tracer.startSpan('chat model-1', {}, inside);
  child.setAttributes({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'model-1',
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 3,
  });
  child.addEvent('gen_ai.choice', { index: 0, finish_reason: 'stop' });
  child.end();
  root.end();
  await provider.shutdown();
  return root.spanContext().traceId;
};

const expectAgent = (body: Read): void => {
  expect(body).toMatchObject({ name: 'run', sessionId: 'session-1' });
  expect(body.observations).toHaveLength(2);
  const [root, child] = ['run', 'chat model-1'].map((one) =>
    body.observations.find((observation) => observation.name === one),
  );
  expect(child).toMatchObject({
    type: 'GENERATION',
    parentObservationId: root?.id,
    model: 'model-1',
    usageDetails: { input: 12, output: 3, total: 15 },
    output: { index: 0, finish_reason: 'stop' },
  });
};

describe('an exporter of OpenTelemetry', () => {
  const settings = (url: string) => ({
    url: `${url}/api/public/otel/v1/traces`,
    headers: { Authorization: basicAuthorization(control.publicKey, control.secretKey) },
    compression: CompressionAlgorithm.GZIP,
  });
  for (const [form, Exporter] of Object.entries({
    JSON: JsonExporter,
    protobuf: ProtobufExporter,
  })) {
    it(`for JavaScript sends nested spans as ${form}, also after two refusals or a short outage`, async () => {
      const refusing = (before: number): Fate => (before < 2 ? 503 : 'passed');
      for (const fateOf of [undefined, refusing, downFor(3_000)]) {
        const work = ({ url }: Between) => runAgent(new Exporter(settings(url)));
        expectAgent(await read(await through(work, fateOf)));
      }
    });
  }

  it.skipIf('missing' in exporter)(
    'for Python sends nested spans as protobuf, also after a short outage',
    { timeout: 120_000 },
    async () => {
      const work = ({ url }: Between) => runProgram(exporter as Program, url);
      const id = await through(work, downFor(3_000));
      expectAgent(await read(id));
    },
  );
});
