/** Builds OTLP exports for tests from one description in both of its forms, and reads answers in protobuf. */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

export type AttributeValue = string | number | boolean | string[];
export type AttributeValues = Record<string, AttributeValue>;

export type TestSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name?: string;
  /** Milliseconds after `startMs`. */
  from?: number;
  to?: number;
  error?: string;
  attributes?: AttributeValues;
  events?: { name: string; attributes: AttributeValues }[];
};

export type TestExport = {
  resource?: AttributeValues;
  scope?: string;
  spans: TestSpan[];
};

export const startMs = Date.UTC(2026, 2, 1);

/** Returns the time that is this many milliseconds after `startMs` in nanoseconds since 1970. */
export const nano = (ms: number): string => String(BigInt(startMs + ms) * 1_000_000n);

const jsonValue = (value: AttributeValue): object => {
  if (Array.isArray(value)) {
    return { arrayValue: { values: value.map((stringValue) => ({ stringValue })) } };
  }
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: value } : { doubleValue: value };
};

export const jsonAttributes = (attributes: AttributeValues = {}): object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: jsonValue(value) }));

const jsonSpan = ({ attributes, events = [], error, from = 0, to = 100, ...span }: TestSpan) => ({
  name: 'a span',
  ...span,
  startTimeUnixNano: nano(from),
  endTimeUnixNano: nano(to),
  attributes: jsonAttributes(attributes),
  events: events.map((event) => ({ ...event, attributes: jsonAttributes(event.attributes) })),
  ...(error === undefined ? {} : { status: { code: 2, message: error } }),
});

/** Builds the export in the JSON form. */
export const jsonExport = ({ resource, scope = 'test', spans }: TestExport): object => ({
  resourceSpans: [
    {
      resource: { attributes: jsonAttributes(resource) },
      scopeSpans: [{ scope: { name: scope }, spans: spans.map(jsonSpan) }],
    },
  ],
});

type Write = (writer: BinaryWriter) => unknown;

/** Writes a message into a field. */
export const inside = (writer: BinaryWriter, field: number, write: Write): BinaryWriter => {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  return writer.join();
};

const text = (writer: BinaryWriter, field: number, value: string) =>
  writer.tag(field, WireType.LengthDelimited).string(value);

const hex = (writer: BinaryWriter, field: number, value: string) =>
  writer.tag(field, WireType.LengthDelimited).bytes(Buffer.from(value, 'hex'));

const writeValue = (writer: BinaryWriter, value: AttributeValue): void => {
  if (Array.isArray(value)) {
    inside(writer, 5, (list) => {
      for (const one of value) inside(list, 1, (any) => writeValue(any, one));
    });
  } else if (typeof value === 'boolean') writer.tag(2, WireType.Varint).bool(value);
  else if (typeof value === 'string') text(writer, 1, value);
  else if (Number.isInteger(value)) writer.tag(3, WireType.Varint).int64(value);
  else writer.tag(4, WireType.Bit64).double(value);
};

const writeAttributes = (
  writer: BinaryWriter,
  field: number,
  given: AttributeValues = {},
): void => {
  for (const [key, value] of Object.entries(given)) {
    inside(writer, field, (attribute) => {
      text(attribute, 1, key);
      inside(attribute, 2, (any) => writeValue(any, value));
    });
  }
};

export const writeSpan = (writer: BinaryWriter, span: TestSpan): void => {
  const { traceId, spanId, parentSpanId, name = 'a span', from = 0, to = 100 } = span;
  hex(writer, 1, traceId);
  hex(writer, 2, spanId);
  if (parentSpanId !== undefined) hex(writer, 4, parentSpanId);
  text(writer, 5, name);
  writer.tag(6, WireType.Varint).int32(1);
  writer.tag(7, WireType.Bit64).fixed64(nano(from));
  writer.tag(8, WireType.Bit64).fixed64(nano(to));
  writeAttributes(writer, 9, span.attributes);
  for (const event of span.events ?? []) {
    inside(writer, 11, (result) => {
      text(result, 2, event.name);
      writeAttributes(result, 3, event.attributes);
    });
  }
  if (span.error !== undefined) {
    inside(writer, 15, (status) => {
      text(status, 2, span.error ?? '');
      status.tag(3, WireType.Varint).int32(2);
    });
  }
};

/** Builds an export whose spans are written by these functions. */
export const protobufOf = (
  spans: readonly Write[],
  { resource, scope = 'test' }: Omit<TestExport, 'spans'> = {},
): Uint8Array =>
  inside(new BinaryWriter(), 1, (ofResource) => {
    inside(ofResource, 1, (writer) => writeAttributes(writer, 1, resource));
    inside(ofResource, 2, (ofScope) => {
      inside(ofScope, 1, (writer) => text(writer, 1, scope));
      for (const write of spans) inside(ofScope, 2, write);
    });
  }).finish();

/** Builds the export as a protobuf message. */
export const protobufExport = ({ spans, ...around }: TestExport): Uint8Array =>
  protobufOf(
    spans.map((span) => (writer: BinaryWriter) => writeSpan(writer, span)),
    around,
  );

/** Returns the varints and texts of a protobuf answer by field, with nested messages. */
export const readFields = (bytes: Uint8Array, messages: readonly number[] = []): object => {
  const reader = new BinaryReader(bytes);
  const fields: Record<number, unknown> = {};
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (wire === WireType.Varint) fields[field] = Number(reader.int64());
    else if (messages.includes(field)) fields[field] = readFields(reader.bytes());
    else fields[field] = reader.string();
  }
  return fields;
};
