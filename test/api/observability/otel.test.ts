/**
 * Tests OpenTelemetry spans in JSON: they become observations, a repeated export changes nothing, and an invalid span
 * does not affect the others.
 */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { getTrace } from '#wire/public-api/operations.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startOwnControl();
});

afterAll(() => control.stop());

const startMs = Date.UTC(2026, 2, 1);
const nano = (ms: number): string => String(BigInt(startMs + ms) * 1_000_000n);
const traceId = (digit: string): string => digit.repeat(32);
const spanId = (digit: string): string => digit.repeat(16);

const attribute = (key: string, value: string | number | boolean | string[]) => {
  if (Array.isArray(value)) {
    const values = value.map((stringValue) => ({ stringValue }));
    return { key, value: { arrayValue: { values } } };
  }
  if (typeof value === 'number') return { key, value: { intValue: value } };
  if (typeof value === 'boolean') return { key, value: { boolValue: value } };
  return { key, value: { stringValue: value } };
};

type Attributes = Record<string, string | number | boolean | string[]>;
const span = (given: object, attributes: Attributes = {}) => ({
  name: 'a span',
  startTimeUnixNano: nano(0),
  endTimeUnixNano: nano(100),
  flags: 1,
  attributes: Object.entries(attributes).map(([key, value]) => attribute(key, value)),
  ...given,
});

const exportOf = (spans: unknown[], resource: Attributes = {}) => ({
  resourceSpans: [
    {
      resource: {
        attributes: Object.entries(resource).map(([key, value]) => attribute(key, value)),
      },
      scopeSpans: [{ scope: { name: 'test' }, spans }],
    },
  ],
});

const send = async (body: unknown, headers: Record<string, string> = {}) => {
  const url = `${control.running.addresses.public[0]}/api/public/otel/v1/traces`;
  const text = JSON.stringify(body);
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: basicAuthorization(control.publicKey, control.secretKey),
      ...headers,
    },
    body: headers['content-encoding'] === 'gzip' ? gzipSync(text) : text,
  });
  const read = (await answer.json()) as { message?: string };
  return { status: answer.status, body: read };
};

const read = async (id: string) => (await control.send(getTrace, { params: { traceId: id } })).body;

describe('an OpenTelemetry export', () => {
  it('turns its spans into observations and a trace, in any order and when sent again', async () => {
    const child = span(
      {
        traceId: traceId('a'),
        spanId: spanId('2'),
        parentSpanId: spanId('1'),
        startTimeUnixNano: nano(20),
        endTimeUnixNano: Number(nano(80)),
        status: { code: 2, message: 'failed' },
      },
      {
        'langfuse.observation.type': 'generation',
        'langfuse.observation.input': '{"q":"hi"}',
        'langfuse.observation.output': 'TI',
        'langfuse.observation.model.name': 'model-1',
        'langfuse.observation.usage_details': '{"input":3,"output":4}',
        'langfuse.observation.completion_start_time': '"2026-03-01T00:00:00.050Z"',
        'langfuse.observation.metadata.plan': '{"x":1}',
        'langfuse.session.id': 'otel-session',
        'user.id': 'ann',
        'langfuse.trace.tags': ['b', 'a'],
      },
    );
    const root = span(
      { traceId: traceId('a'), spanId: spanId('1'), name: 'root' },
      { 'input.value': 'asked', 'langfuse.environment': 'Prod' },
    );
    for (const spans of [[child], [root], [child, root]]) {
      expect(await send(exportOf(spans, { 'service.version': 'v1' }))).toEqual({
        status: 200,
        body: {},
      });
    }
    const trace = await read(traceId('a'));
    expect(trace).toMatchObject({
      name: 'root',
      input: 'asked',
      userId: 'ann',
      sessionId: 'otel-session',
      tags: ['a', 'b'],
      environment: 'prod',
      version: 'v1',
      timestamp: new Date(startMs).toISOString(),
    });
    expect(trace.observations).toMatchObject([
      { id: spanId('1'), type: 'SPAN', parentObservationId: null, latency: 0.1, level: 'DEFAULT' },
      {
        id: spanId('2'),
        type: 'GENERATION',
        parentObservationId: spanId('1'),
        level: 'ERROR',
        statusMessage: 'failed',
        input: { q: 'hi' },
        output: 'TI',
        model: 'model-1',
        usageDetails: { input: 3, output: 4, total: 7 },
        metadata: { plan: { x: 1 } },
        latency: 0.06,
        timeToFirstToken: 0.03,
      },
    ]);
  });

  it('stores its valid spans and counts the invalid ones as rejected', async () => {
    const good = span({ traceId: traceId('b'), spanId: spanId('1') });
    const bad = [7, span({ traceId: 'x', spanId: spanId('2') }), span({ traceId: traceId('b') })];
    expect(await send(exportOf([...bad, good]))).toEqual({
      status: 200,
      body: { partialSuccess: { rejectedSpans: '3', errorMessage: 'a span must be an object' } },
    });
    expect((await read(traceId('b'))).observations).toHaveLength(1);
  });

  it('replaces span values nested too deep by null and stores everything else', async () => {
    const deep = Array.from({ length: 100 }).reduce<object>(
      (value) => ({ arrayValue: { values: [value] } }),
      { stringValue: 'x' },
    );
    const nested = {
      ...span({ traceId: traceId('9'), spanId: spanId('1') }),
      attributes: [{ key: 'output.value', value: deep }],
    };
    const plain = span({ traceId: traceId('9'), spanId: spanId('2') });
    expect(await send(exportOf([nested, plain]))).toEqual({ status: 200, body: {} });
    const { observations } = await read(traceId('9'));
    expect(observations).toHaveLength(2);
    const output = observations.find(({ id }) => id === spanId('1'))?.output;
    expect(JSON.stringify(output)).toBe(`${'['.repeat(32)}null${']'.repeat(32)}`);
  });

  it('is refused as a whole when it has no spans or no valid one', async () => {
    const place = 'resourceSpans';
    expect(await send({ resourceLogs: [] })).toMatchObject({
      status: 400,
      body: { error: [{ path: [place] }] },
    });
    const bad = span({ traceId: 'none', spanId: spanId('1') });
    const { status, body } = await send(exportOf([bad, bad]));
    expect([status, body.message]).toEqual([
      400,
      expect.stringContaining('none of the 2 spans can be accepted: a span needs a traceId'),
    ]);
  });

  it('gives its trace the metadata of the root span, which metadata set on the trace overrides', async () => {
    const id = traceId('7');
    const root = span(
      { traceId: id, spanId: spanId('1') },
      { 'langfuse.observation.metadata.plan': 'free', 'langfuse.observation.metadata.step': 'one' },
    );
    const child = span(
      { traceId: id, spanId: spanId('2'), parentSpanId: spanId('1') },
      { 'langfuse.observation.metadata.child': 'x', 'langfuse.trace.metadata.plan': 'paid' },
    );
    await send(exportOf([child, root], { 'service.name': 'agent' }));
    expect((await read(id)).metadata).toEqual({
      plan: 'paid',
      step: 'one',
      resourceAttributes: { 'service.name': 'agent' },
      scope: { name: 'test' },
    });
  });

  it('links a generation to its prompt by id once the prompt exists', async () => {
    const make = async (name: string) => {
      const url = `${control.running.addresses.public[0]}/api/public/v2/prompts`;
      const answer = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: basicAuthorization(control.publicKey, control.secretKey),
        },
        body: JSON.stringify({ name, prompt: 'hi', type: 'text' }),
      });
      return (await answer.json()) as { id: string; version: number };
    };
    const id = traceId('8');
    const generation = (name: string, digit: string) =>
      span(
        { traceId: id, spanId: spanId(digit) },
        {
          'langfuse.observation.type': 'generation',
          'langfuse.observation.prompt.name': name,
          'langfuse.observation.prompt.version': 1,
        },
      );
    await send(exportOf([generation('greeting', '1'), generation('none', '2')]));
    const prompt = await make('greeting');
    const { observations } = await read(id);
    const found = observations.map(({ promptName, promptId }) => [promptName, promptId]);
    expect(Object.fromEntries(found)).toEqual({ greeting: prompt.id, none: null });
  });

  it('may be compressed and may be empty', async () => {
    const good = span(
      { traceId: traceId('c'), spanId: spanId('1'), name: 'chat' },
      { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', 'gen_ai.request.top_p': 1 },
    );
    const { status } = await send(exportOf([good]), { 'content-encoding': 'gzip' });
    expect(status).toBe(200);
    expect((await read(traceId('c'))).observations).toMatchObject([
      { type: 'GENERATION', model: 'm', modelParameters: { top_p: 1 } },
    ]);
    expect(await send({})).toEqual({ status: 200, body: {} });
  });

  it('is refused when it inflates beyond the body limit, and when it is declared as gzip and is not', async () => {
    const bomb = { resourceSpans: [], x: 'x'.repeat(17 * 1024 * 1024) };
    const large = await send(bomb, { 'content-encoding': 'gzip' });
    expect([large.status, large.body.message]).toEqual([
      413,
      expect.stringContaining('after decompression'),
    ]);
    const answer = await control.raw({
      method: 'POST',
      path: '/api/public/otel/v1/traces',
      headers: {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        authorization: basicAuthorization(control.publicKey, control.secretKey),
      },
      body: '{}',
    });
    expect(answer.status).toBe(400);
  });
});
