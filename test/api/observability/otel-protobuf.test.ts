/**
 * Tests OpenTelemetry exports in protobuf: they are stored as JSON exports are, answered in protobuf, and malformed
 * bytes are refused.
 */
import { gzipSync } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { getTrace } from '#wire/public-api/operations.ts';
import {
  inside,
  jsonExport,
  protobufExport,
  protobufOf,
  readFields,
  type TestExport,
  type TestSpan,
  writeSpan,
} from '../../support/control/otlp.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startOwnControl();
});

afterAll(() => control.stop());

const traceId = (digit: string): string => digit.repeat(32);
const spanId = (digit: string): string => digit.repeat(16);

const post = async (path: string, body: Uint8Array, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${control.running.addresses.public[0]}/api/public${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-protobuf',
      authorization: basicAuthorization(control.publicKey, control.secretKey),
      ...headers,
    },
    body: body as Uint8Array<ArrayBuffer>,
  });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const type = answer.headers.get('content-type');
  return { status: answer.status, type, bytes, headers: answer.headers };
};
const send = (body: Uint8Array, headers?: Record<string, string>) =>
  post('/otel/v1/traces', body, headers);

const type = 'application/x-protobuf';
const read = async (id: string) => (await control.send(getTrace, { params: { traceId: id } })).body;

const said = ({ bytes }: { bytes: Uint8Array }) => readFields(bytes, [1]);
const refusal = ({ bytes }: { bytes: Uint8Array }) => readFields(bytes) as { 1: number; 2: string };

const span = (digit: string, id: string, given: Partial<TestSpan> = {}): TestSpan => ({
  traceId: traceId(digit),
  spanId: spanId(id),
  ...given,
});

const rich: TestExport = {
  resource: { 'service.name': 'agent', 'deployment.environment': 'staging' },
  spans: [
    span('1', '1', { name: 'run', attributes: { 'input.value': 'häl\0lo', 'user.id': 'ann' } }),
    span('1', '2', {
      parentSpanId: spanId('1'),
      from: 20,
      to: 80,
      error: 'too slow',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'model-1',
        'gen_ai.request.temperature': 0.5,
        'gen_ai.request.stop_sequences': ['a', 'b'],
        'gen_ai.request.stream': true,
        'gen_ai.usage.input_tokens': 12,
        'a.negative': -7,
      },
      events: [{ name: 'gen_ai.choice', attributes: { index: 0, message: '{"content":"hi"}' } }],
    }),
  ],
};

describe('a protobuf export', () => {
  it('stores the same observations as the same export in JSON', async () => {
    expect(await send(protobufExport(rich))).toMatchObject({
      status: 200,
      type,
      bytes: new Uint8Array(),
    });
    const trace = await read(traceId('1'));
    const inJson = JSON.parse(
      JSON.stringify(jsonExport(rich)).replaceAll(traceId('1'), traceId('2')),
    );
    const answer = await control.raw({
      method: 'POST',
      path: '/api/public/otel/v1/traces',
      headers: {
        'content-type': 'application/json',
        authorization: basicAuthorization(control.publicKey, control.secretKey),
      },
      body: JSON.stringify(inJson)
        .replaceAll(`"${spanId('1')}"`, `"${spanId('3')}"`)
        .replaceAll(`"${spanId('2')}"`, `"${spanId('4')}"`),
    });
    expect(answer.status).toBe(200);
    const other = await read(traceId('2'));
    const plain = (one: typeof trace) =>
      JSON.parse(
        JSON.stringify({ ...one, id: '', htmlPath: '' })
          .replaceAll(traceId('2'), traceId('1'))
          .replaceAll(spanId('3'), spanId('1'))
          .replaceAll(spanId('4'), spanId('2'))
          .replace(/"(createdAt|updatedAt)":"[^"]*"/g, '"$1":""'),
      );
    expect(plain(other)).toEqual(plain(trace));
    expect(trace).toMatchObject({ name: 'run', userId: 'ann', environment: 'staging' });
    expect(trace.observations).toMatchObject([
      {
        id: spanId('1'),
        input: 'häl\0lo',
        metadata: { resourceAttributes: { 'service.name': 'agent' } },
      },
      {
        id: spanId('2'),
        parentObservationId: spanId('1'),
        type: 'GENERATION',
        model: 'model-1',
        modelParameters: { temperature: 0.5, stop_sequences: '["a","b"]', stream: 'true' },
        level: 'ERROR',
        statusMessage: 'too slow',
        usageDetails: { input: 12 },
        output: { index: 0, message: { content: 'hi' } },
        latency: 0.06,
        metadata: { attributes: { 'a.negative': -7 } },
      },
    ]);
  });

  it('is stored when compressed, empty, large or sent twice', async () => {
    const spans = Array.from({ length: 600 }, (_, index) =>
      span('3', '', {
        spanId: (index + 1).toString(16).padStart(16, '0'),
        attributes: { 'input.value': `${index} ${'x'.repeat(1_000)}` },
      }),
    );
    const bytes = protobufExport({ spans });
    for (const body of [bytes, gzipSync(bytes)]) {
      const headers = body === bytes ? {} : { 'content-encoding': 'gzip' };
      expect(await send(body, headers)).toMatchObject({ status: 200, bytes: new Uint8Array() });
    }
    const { observations } = await read(traceId('3'));
    expect(observations).toHaveLength(600);
    expect(observations.map(({ input }) => String(input).split(' ')[0]).sort()).toEqual(
      spans.map((_, index) => String(index)).sort(),
    );
    expect(await send(new Uint8Array())).toMatchObject({ status: 200, type });
  });

  it('stores its valid spans and counts the invalid ones as rejected', async () => {
    const good = (writer: BinaryWriter) => writeSpan(writer, span('4', '1'));
    const overrun = (writer: BinaryWriter) => writer.tag(1, WireType.LengthDelimited).uint32(16);
    const endless = (writer: BinaryWriter) => writer.raw(new Uint8Array(12).fill(0xff));
    const huge = (writer: BinaryWriter) =>
      writer.tag(9, WireType.LengthDelimited).uint32(0xffff_ffff);
    const shortId = (writer: BinaryWriter) =>
      writeSpan(writer, { ...span('4', '2'), traceId: 'ab' });
    const noId = (writer: BinaryWriter) => writeSpan(writer, span('4', '0'));
    const answer = await send(protobufOf([overrun, endless, huge, shortId, noId, good]));
    expect(answer).toMatchObject({ status: 200, type });
    expect(said(answer)).toEqual({
      1: { 1: 5, 2: expect.stringMatching(/^a span cannot be read: /) },
    });
    expect((await read(traceId('4'))).observations.map(({ id }) => id)).toEqual([spanId('1')]);
  });

  it('keeps nested values to a depth limit and replaces deeper ones by null', async () => {
    const nest = (writer: BinaryWriter, levels: number): void => {
      if (levels === 0) writer.tag(1, WireType.LengthDelimited).string('bottom');
      else inside(writer, 5, (list) => inside(list, 1, (any) => nest(any, levels - 1)));
    };
    const deep = (levels: number, id: string) => (writer: BinaryWriter) => {
      writeSpan(writer, span('5', id));
      inside(writer, 9, (attribute) => {
        attribute.tag(1, WireType.LengthDelimited).string('input.value');
        inside(attribute, 2, (any) => nest(any, levels));
      });
    };
    const text = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const texts = (writer: BinaryWriter) =>
      writeSpan(
        writer,
        span('5', '3', { attributes: { 'input.value': text, 'metadata.__proto__': 'x' } }),
      );
    expect(await send(protobufOf([deep(3, '1'), deep(400, '2'), texts]))).toMatchObject({
      status: 200,
    });
    const { observations } = await read(traceId('5'));
    const byId = new Map(observations.map((one) => [one.id, one]));
    const [shallow, cut, result] = ['1', '2', '3'].map((id) => byId.get(spanId(id)));
    expect(shallow?.input).toEqual([[['bottom']]]);
    expect(JSON.stringify(cut?.input)).toBe(`${'['.repeat(32)}null${']'.repeat(32)}`);
    expect(result?.input === text).toBe(true);
  });
});

describe('a body that is not a protobuf export', () => {
  const good = protobufExport({ spans: [span('6', '1')] });
  const groups = new Uint8Array(60_000).fill(0x0b);
  const cases: Record<string, Uint8Array> = {
    'cut off': good.subarray(0, good.byteLength - 10),
    'a length without end': Uint8Array.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]),
    'a tag without end': new Uint8Array(30).fill(0xff),
    'groups in groups': groups,
    JSON: Buffer.from('{"resourceSpans": []}'),
  };
  for (const [name, bytes] of Object.entries(cases)) {
    it(`is refused as a whole, in protobuf: ${name}`, async () => {
      const answer = await send(bytes);
      expect(answer).toMatchObject({ status: 400, type });
      expect(refusal(answer)).toEqual({
        1: 3,
        2: expect.stringMatching(/^the body is no ExportTraceServiceRequest in protobuf: /),
      });
      const gone = await control.raw({
        method: 'GET',
        path: `/api/public/traces/${traceId('6')}`,
        headers: { authorization: basicAuthorization(control.publicKey, control.secretKey) },
      });
      expect(gone.status).toBe(404);
    });
  }

  it('is refused when it inflates beyond the body limit, and when it is declared as gzip and is not', async () => {
    const bomb = gzipSync(Buffer.alloc(17 * 1024 * 1024));
    const large = await send(bomb, { 'content-encoding': 'gzip' });
    expect([large.status, large.type, refusal(large)[1]]).toEqual([413, type, 8]);
    const none = await send(good, { 'content-encoding': 'gzip' });
    expect([none.status, refusal(none)]).toEqual([400, { 1: 3, 2: 'the body is not valid gzip' }]);
  });
});

describe('a client that sends protobuf', () => {
  it('gets errors in protobuf: without a key, and with 415 on routes that take only JSON', async () => {
    const unknown = await send(new Uint8Array(), { authorization: 'Basic eDp5' });
    expect([unknown.status, unknown.type, refusal(unknown)[1]]).toEqual([401, type, 16]);
    const elsewhere = await post('/ingestion', new Uint8Array());
    expect([elsewhere.status, elsewhere.type]).toEqual([415, 'application/json; charset=utf-8']);
  });

  it('may send metrics, which are validated and not stored', async () => {
    const metrics = inside(new BinaryWriter(), 1, (writer) => inside(writer, 2, () => undefined));
    expect(await post('/otel/v1/metrics', metrics.finish())).toMatchObject({
      status: 200,
      type,
      bytes: new Uint8Array(),
    });
    const broken = await post('/otel/v1/metrics', Uint8Array.from([0x0a, 0x7f]));
    expect([broken.status, refusal(broken)]).toEqual([
      400,
      {
        1: 3,
        2: 'the body is no ExportMetricsServiceRequest in protobuf: a field has the length 127, but only 0 bytes are left',
      },
    ]);
  });
});
