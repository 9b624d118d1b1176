/**
 * Reads the protobuf form of OTLP directly into the types of `span.ts`, so that messages which are not needed are not
 * decoded. If a span cannot be decoded, only that span is skipped, because its length gives the start of the next one.
 * protobuf-es decodes the bytes; the field numbers are those of opentelemetry-proto 1.x, which are stable.
 */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { AppError } from '#domain/error.ts';
import {
  type Attributes,
  mostAttributes,
  mostLevels,
  noAttributes,
  wholeOf,
} from './attributes.ts';
import {
  mostEvents,
  type Scope,
  type SentScope,
  type SentSpan,
  type SpanEvent,
  timeOfUs,
} from './span.ts';

/**
 * Reads the value of a field from the reader; returns false if the message has no such field. The caller then skips the
 * value.
 */
type Take = (field: number, wire: WireType) => boolean;

const isLengthy = (wire: WireType): boolean => wire === WireType.LengthDelimited;

const isGroup = (wire: WireType): boolean =>
  wire === WireType.StartGroup || wire === WireType.EndGroup;

/**
 * Checks the length that follows in the bytes, without consuming it. Throws if the length reaches beyond `end`, because
 * otherwise each of many spans could claim all remaining bytes.
 */
const checkLength = (reader: BinaryReader, end: number): void => {
  const at = reader.pos;
  const length = reader.uint32();
  if (reader.pos + length > end) {
    throw new RangeError(
      `a field has the length ${length}, but only ${end - reader.pos} bytes are left`,
    );
  }
  reader.pos = at;
};

/** Reads the fields of a message that ends at `end`. Throws if the bytes are invalid or run past the end. */
const readFields = (reader: BinaryReader, end: number, take: Take): void => {
  while (reader.pos < end) {
    const [field, wire] = reader.tag();
    if (isGroup(wire))
      throw new RangeError('the body has a field of the type group, which OTLP does not use');
    if (isLengthy(wire)) checkLength(reader, end);
    if (!take(field, wire)) reader.skip(wire, field);
    if (reader.pos > end) throw new RangeError('a value is longer than its message');
  }
};

/** Returns the end of the message whose length follows in the bytes. */
const endOfNext = (reader: BinaryReader): number => {
  const length = reader.uint32();
  return reader.pos + length;
};

const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

const readList = (reader: BinaryReader, levels: number): unknown[] => {
  const values: unknown[] = [];
  readFields(reader, endOfNext(reader), (field, wire) => {
    if (field !== 1 || !isLengthy(wire)) return false;
    values.push(readAny(reader, levels));
    return true;
  });
  return values;
};

/** Reads an `AnyValue`; if `levels` is used up, skips the value without decoding it and returns null. */
const readAny = (reader: BinaryReader, levels: number): unknown => {
  const end = endOfNext(reader);
  let value: unknown = null;
  if (levels === 0) {
    reader.pos = end;
    return value;
  }
  readFields(reader, end, (field, wire) => {
    if (field === 1 && isLengthy(wire)) value = reader.string();
    else if (field === 2 && wire === WireType.Varint) value = reader.bool();
    else if (field === 3 && wire === WireType.Varint) value = wholeOf(reader.int64());
    else if (field === 4 && wire === WireType.Bit64) value = reader.double();
    else if (field === 5 && isLengthy(wire)) value = readList(reader, levels - 1);
    else if (field === 6 && isLengthy(wire)) value = readMembers(reader, levels - 1);
    else if (field === 7 && isLengthy(wire)) value = Buffer.from(reader.bytes()).toString('base64');
    else return false;
    return true;
  });
  return value;
};

const readMembers = (reader: BinaryReader, levels: number): Record<string, unknown> => {
  const members = new Map<string, unknown>();
  readFields(reader, endOfNext(reader), (field, wire) => {
    if (field !== 1 || !isLengthy(wire)) return false;
    readAttribute(reader, members, levels);
    return true;
  });
  return Object.fromEntries(members);
};

/** Reads a `KeyValue` and adds it to the attributes `into`. */
const readAttribute = (reader: BinaryReader, into: Map<string, unknown>, levels: number): void => {
  let key = '';
  let value: unknown = null;
  readFields(reader, endOfNext(reader), (field, wire) => {
    if (field === 1 && isLengthy(wire)) key = reader.string();
    else if (field === 2 && isLengthy(wire)) value = readAny(reader, levels);
    else return false;
    return true;
  });
  if (into.size < mostAttributes) into.set(key, value);
};

const readEvent = (reader: BinaryReader): SpanEvent => {
  const attributes = new Map<string, unknown>();
  let name = '';
  readFields(reader, endOfNext(reader), (field, wire) => {
    if (field === 2 && isLengthy(wire)) name = reader.string();
    else if (field === 3 && isLengthy(wire)) readAttribute(reader, attributes, mostLevels);
    else return false;
    return true;
  });
  return { name, attributes };
};

const readStatus = (reader: BinaryReader, span: SentSpan): void => {
  readFields(reader, endOfNext(reader), (field, wire) => {
    if (field === 2 && isLengthy(wire)) span.statusMessage = reader.string();
    else if (field === 3 && wire === WireType.Varint) span.isError = reader.int32() === 2;
    else return false;
    return true;
  });
};

const timeOf = (nano: bigint | string): number | undefined =>
  timeOfUs(Number(BigInt(nano) / 1_000n));

const readSpanTo = (reader: BinaryReader, end: number): SentSpan => {
  const attributes = new Map<string, unknown>();
  const events: SpanEvent[] = [];
  const span: SentSpan = {
    traceId: '',
    spanId: '',
    parentId: '',
    name: '',
    startUs: undefined,
    endUs: undefined,
    isError: false,
    statusMessage: '',
    attributes,
    events,
  };
  readFields(reader, end, (field, wire) => {
    if (wire === WireType.Bit64 && field === 7) span.startUs = timeOf(reader.fixed64());
    else if (wire === WireType.Bit64 && field === 8) span.endUs = timeOf(reader.fixed64());
    else if (!isLengthy(wire)) return false;
    else if (field === 1) span.traceId = hexOf(reader.bytes());
    else if (field === 2) span.spanId = hexOf(reader.bytes());
    else if (field === 4) span.parentId = hexOf(reader.bytes());
    else if (field === 5) span.name = reader.string();
    else if (field === 9) readAttribute(reader, attributes, mostLevels);
    else if (field === 11 && events.length < mostEvents) events.push(readEvent(reader));
    else if (field === 15) readStatus(reader, span);
    else return false;
    return true;
  });
  return span;
};

/**
 * Minimum length of a valid span, which has its ids and one time, in bytes. Shorter spans are rejected without being
 * read.
 */
const leastSpanBytes = 18 + 10 + 9;

/** Returns the next span, or the reason why it is invalid. In both cases the reader is then at the end of the span. */
const readSpan = (reader: BinaryReader): SentSpan | string => {
  const end = endOfNext(reader);
  const length = end - reader.pos;
  if (length < leastSpanBytes) {
    reader.pos = end;
    return `a span cannot be read: ${length} bytes are too few for its ids and a time`;
  }
  try {
    return readSpanTo(reader, end);
  } catch (error) {
    return `a span cannot be read: ${(error as Error).message}`;
  } finally {
    reader.pos = end;
  }
};

/** Reads the attributes of a `Resource` from field `at`. */
const readAttributesAt = (reader: BinaryReader, at: number): Attributes => {
  const attributes = new Map<string, unknown>();
  readFields(reader, endOfNext(reader), (field, wire) => {
    if (field !== at || !isLengthy(wire)) return false;
    readAttribute(reader, attributes, mostLevels);
    return true;
  });
  return attributes;
};

const readScope = (reader: BinaryReader): Scope => {
  const attributes = new Map<string, unknown>();
  const scope = { name: '', version: '', attributes };
  readFields(reader, endOfNext(reader), (field, wire) => {
    if (!isLengthy(wire)) return false;
    if (field === 1) scope.name = reader.string();
    else if (field === 2) scope.version = reader.string();
    else if (field === 3) readAttribute(reader, attributes, mostLevels);
    else return false;
    return true;
  });
  return scope;
};

type OfScope = Omit<SentScope, 'resource'>;

const readScopeSpans = (reader: BinaryReader): OfScope => {
  const read: OfScope = { scope: { name: '', version: '', attributes: noAttributes }, spans: [] };
  readFields(reader, endOfNext(reader), (field, wire) => {
    if (field === 1 && isLengthy(wire)) read.scope = readScope(reader);
    else if (field === 2 && isLengthy(wire)) read.spans.push(readSpan(reader));
    else return false;
    return true;
  });
  return read;
};

/** Reads a `ResourceSpans`. In the bytes, the resource may follow its spans. */
const readResourceSpans = (reader: BinaryReader): SentScope[] => {
  const scopes: OfScope[] = [];
  let resource = noAttributes;
  readFields(reader, endOfNext(reader), (field, wire) => {
    if (field === 1 && isLengthy(wire)) resource = readAttributesAt(reader, 1);
    else if (field === 2 && isLengthy(wire)) scopes.push(readScopeSpans(reader));
    else return false;
    return true;
  });
  return scopes.map((scope) => ({ resource, ...scope }));
};

const undecodable = (message: string, error: unknown): AppError =>
  new AppError('invalid', `the body is no ${message} in protobuf: ${(error as Error).message}`, {
    cause: error,
  });

/** Runs `work` without stack traces in errors. Each trace takes 20 µs, and every span of a body may be invalid. */
const withoutStacks = <Value>(work: () => Value): Value => {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = before;
  }
};

const readAll = (bytes: Uint8Array): SentScope[] => {
  const reader = new BinaryReader(bytes);
  const sent: SentScope[] = [];
  readFields(reader, bytes.byteLength, (field, wire) => {
    if (field !== 1 || !isLengthy(wire)) return false;
    for (const one of readResourceSpans(reader)) sent.push(one);
    return true;
  });
  return sent;
};

/** Reads an `ExportTraceServiceRequest`. Throws `invalid` if the boundaries of its spans cannot be determined. */
export const readProtobufForm = (bytes: Uint8Array): SentScope[] => {
  try {
    return withoutStacks(() => readAll(bytes));
  } catch (error) {
    throw undecodable('ExportTraceServiceRequest', error);
  }
};

/** Throws `invalid` if the bytes cannot be an `ExportMetricsServiceRequest`. Nothing of such a request is stored. */
export const checkProtobufMetrics = (bytes: Uint8Array): void => {
  try {
    readFields(new BinaryReader(bytes), bytes.byteLength, () => false);
  } catch (error) {
    throw undecodable('ExportMetricsServiceRequest', error);
  }
};
