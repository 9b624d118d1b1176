/**
 * Small compressed bodies that expand into very many elements. They are refused by a count while
 * they are still being unpacked, before any object is made of them. Other bodies are read
 * meanwhile.
 */
import { gzipSync } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basicAuthorization } from '#wire/client.ts';
import { inside, jsonExport, nano } from '../../support/control/otlp.ts';
import { type OwnControl, startOwnControl } from '../../support/control/own-control.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startOwnControl();
});
afterAll(() => control.stop());

const send = async (
  body: Uint8Array | string,
  { type, path = '/otel/v1/traces' }: { type: string; path?: string },
) => {
  const answer = await control.running.app.inject({
    method: 'POST',
    url: `/api/public${path}`,
    headers: {
      authorization: basicAuthorization(control.publicKey, control.secretKey),
      'content-type': type,
      'content-encoding': 'gzip',
    },
    payload: gzipSync(body),
  });
  return { status: answer.statusCode, text: answer.payload };
};

const protobuf = { type: 'application/x-protobuf' };
const json = { type: 'application/json' };

/** Message whose fields are empty messages: two bytes each. */
const empties = (field: number, count: number): Buffer =>
  Buffer.alloc(2 * count, Buffer.from([(field << 3) | WireType.LengthDelimited, 0]));

/** Wraps bytes as nested messages in the fields of these numbers, the innermost first. */
const within = (bytes: Uint8Array, ...fields: number[]): Uint8Array =>
  fields.reduce<Uint8Array>(
    (held, field) => new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(held).finish(),
    bytes,
  );

const list = (entry: string, count: number): string => `[${`${entry},`.repeat(count - 1)}${entry}]`;
const inScope = (spans: string): string =>
  `{"resourceSpans":[{"scopeSpans":[{"spans":${spans}}]}]}`;

describe('an export that is small only while compressed', () => {
  const many = 7_900_000;
  it.each([
    ['empty spans', '50000 spans', within(empties(2, many), 2, 1)],
    ['empty resources', '1000 resources', empties(1, many)],
    ['empty scopes', '10000 scopes', within(empties(2, many), 1)],
    ['a span of empty attributes', '200000 attributes', within(empties(9, many), 2, 2, 1)],
    ['a resource of empty attributes', '200000 attributes', within(empties(1, many), 1, 1)],
    ['events of a span', '200000 attributes', within(empties(11, many), 2, 2, 1)],
    ['a list of nothing', '2000000 fields', within(empties(1, many), 5, 2, 9, 2, 2, 1)],
    ['fields that nothing has', '2000000 fields', within(empties(14, many), 2, 2, 1)],
  ])('is refused by the number of its elements in protobuf: %s', async (_, bound, bytes) => {
    const { status, text } = await send(bytes, protobuf);
    expect([status, text]).toEqual([413, expect.stringContaining(`more than ${bound}`)]);
  });

  it.each([
    ['empty spans', '50000 spans', inScope(list('{}', 5_000_000))],
    ['empty resources', '1000 resources', `{"resourceSpans":${list('{}', 5_000_000)}}`],
    ['numbers as resources', '1000 resources', `{"resourceSpans":${list('0', 7_000_000)}}`],
    ['attributes', '200000 attributes', inScope(`[{"attributes":${list('{}', 5_000_000)}}]`)],
    [
      'attributes of events',
      '200000 attributes',
      inScope(`[{"events":[{"attributes":${list('{}', 5_000_000)}}]}]`),
    ],
  ])('is refused by the number of its elements in JSON: %s', async (_, bound, text) => {
    const answer = await send(text, json);
    expect([answer.status, answer.text]).toEqual([
      413,
      expect.stringContaining(`more than ${bound}`),
    ]);
  });

  it('is refused on the other routes that accept a list of events or metrics', async () => {
    const events = await send(`{"batch":${list('{}', 1_500_000)}}`, {
      ...json,
      path: '/ingestion',
    });
    expect([events.status, events.text]).toEqual([
      413,
      expect.stringContaining('more than 50000 events'),
    ]);
    const metrics = { ...protobuf, path: '/otel/v1/metrics' };
    const { status, text } = await send(empties(1, many), metrics);
    expect([status, text]).toEqual([413, expect.stringContaining('more than 2000000 fields')]);
  });
});

describe('spans whose lengths reach over all following spans', () => {
  const count = 40_000;
  const tail = 12 * 1024 * 1024;
  /** Span with a field whose length reaches far beyond its end. */
  const reaching = (field: number): Buffer => {
    const lengthy = Buffer.concat([
      Buffer.from([(field << 3) | WireType.LengthDelimited]),
      new BinaryWriter().uint32(tail).finish(),
    ]);
    const ids = within(Buffer.alloc(37, '1'), 1);
    const held = Buffer.concat([ids, lengthy]);
    const span = Buffer.concat([Buffer.from([0x12, held.length]), held]);
    return Buffer.alloc(span.length * count, span);
  };
  it.each([
    ['a name', 5],
    ['an attribute', 9],
  ])('are refused, and nothing beyond their ends is read: %s', async (_, field) => {
    const rest = within(Buffer.alloc(tail, 'x'), 3);
    const scope = Buffer.concat([reaching(field), rest]);
    const { status, text } = await send(within(scope, 2, 1), protobuf);
    expect([status, text]).toEqual([400, expect.stringContaining('a field has the length')]);
  });
});

describe('a large export within the limits', () => {
  it('is accepted in full', async () => {
    const spans = Array.from({ length: 3_000 }, (_, number) => ({
      traceId: '1'.repeat(32),
      spanId: (number + 1).toString(16).padStart(16, '0'),
      attributes: { 'langfuse.user.id': 'x'.repeat(200) },
    }));
    const { status, text } = await send(JSON.stringify(jsonExport({ spans })), json);
    expect([status, text]).toEqual([200, '{}']);
    const [row] = await control.sql<{ count: number }>(
      `select count(*)::int as count from observations where trace_id = '${'1'.repeat(32)}'`,
    );
    expect(row?.count).toBe(3_000);
  });

  it('may have empty lists in each of its spans', async () => {
    const span = (number: number) => ({
      traceId: '2'.repeat(32),
      spanId: (number + 1).toString(16).padStart(16, '0'),
      ...{ startTimeUnixNano: nano(0), attributes: [], events: [], links: [] },
    });
    const spans = Array.from({ length: 2_000 }, (_, number) => span(number));
    const { status } = await send(inScope(JSON.stringify(spans)), json);
    expect(status).toBe(200);
  });
});

it('a truncated body is refused with 400', async () => {
  const cut = inside(new BinaryWriter(), 1, (writer) => writer.raw(empties(2, 10))).finish();
  const { status } = await send(cut.slice(0, -1), protobuf);
  expect(status).toBe(400);
});
