/**
 * Reads the JSON form of OTLP. Exporters differ: whole numbers are sent as text or as numbers; times as text, as
 * numbers or as two 32-bit halves. Unknown members are ignored.
 */
import { clip } from '#domain/cut.ts';
import { AppError } from '#domain/error.ts';
import { isObject } from '#domain/json.ts';
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

const readAny = (given: unknown, levels: number): unknown => {
  if (!isObject(given) || levels === 0) return null;
  if (typeof given.stringValue === 'string') return given.stringValue;
  if (typeof given.boolValue === 'boolean') return given.boolValue;
  const { intValue, doubleValue } = given;
  if (typeof intValue === 'number' || typeof intValue === 'string') return wholeOf(intValue);
  if (doubleValue !== undefined) return Number(doubleValue);
  if (typeof given.bytesValue === 'string') return given.bytesValue;
  if (isObject(given.arrayValue)) {
    return listOf(given.arrayValue.values).map((value) => readAny(value, levels - 1));
  }
  if (isObject(given.kvlistValue)) {
    return Object.fromEntries(readAttributes(given.kvlistValue.values, levels - 1));
  }
  return null;
};

const listOf = (given: unknown): unknown[] => (Array.isArray(given) ? given : []);

/** Maximum length of a name quoted in an error, in characters. */
const mostQuoted = 100;

/** Reads a list of `{key, value}` objects and skips entries of another form. */
const readAttributes = (given: unknown, levels = mostLevels): Attributes => {
  if (!Array.isArray(given) || given.length === 0) return noAttributes;
  const attributes = new Map<string, unknown>();
  for (const one of given.slice(0, mostAttributes)) {
    if (isObject(one) && typeof one.key === 'string') {
      attributes.set(one.key, readAny(one.value, levels));
    }
  }
  return attributes;
};

/** Converts nanoseconds since 1970 to microseconds; returns undefined if the value is no time. */
const readNano = (given: unknown): number | undefined => {
  if (isObject(given) && typeof given.low === 'number' && typeof given.high === 'number') {
    const nano = (BigInt(given.high >>> 0) << 32n) + BigInt(given.low >>> 0);
    return timeOfUs(Number(nano / 1_000n));
  }
  if (typeof given === 'string' && /^\d{1,20}$/.test(given)) {
    return timeOfUs(Number(BigInt(given) / 1_000n));
  }
  return typeof given === 'number' ? timeOfUs(Math.floor(given / 1_000)) : undefined;
};

const textIn = (given: unknown): string => (typeof given === 'string' ? given : '');

const readEvent = (given: unknown): SpanEvent[] =>
  isObject(given)
    ? [{ name: textIn(given.name), attributes: readAttributes(given.attributes) }]
    : [];

const readSpan = (given: unknown): SentSpan | string => {
  if (!isObject(given)) return 'a span must be an object';
  const { code, message } = isObject(given.status) ? given.status : {};
  return {
    traceId: textIn(given.traceId),
    spanId: textIn(given.spanId),
    parentId: textIn(given.parentSpanId),
    name: textIn(given.name),
    startUs: readNano(given.startTimeUnixNano),
    endUs: readNano(given.endTimeUnixNano),
    isError: code === 2 || code === 'STATUS_CODE_ERROR',
    statusMessage: textIn(message),
    attributes: readAttributes(given.attributes),
    events: listOf(given.events).slice(0, mostEvents).flatMap(readEvent),
  };
};

const readScope = (given: unknown): Scope => {
  const { name, version, attributes } = isObject(given) ? given : {};
  return { name: textIn(name), version: textIn(version), attributes: readAttributes(attributes) };
};

const misplaced = (path: readonly string[], message: string): AppError =>
  new AppError('invalid', `the body is not an export of spans: ${path.join('.')} ${message}`, {
    fields: [{ path: [...path], message }],
  });

/** Path of a message, and the members that the message may have in addition to its list. */
type Place = { path: readonly string[]; beside: readonly string[] };

/**
 * Returns the entries of a list in a message; an absent list is empty. Throws `invalid` if the member is no list. Also
 * throws if the list is absent and the message has an unexpected member, because the data of that member would be lost
 * silently.
 */
const listIn = (
  given: Record<string, unknown>,
  name: string,
  { path, beside }: Place,
): readonly unknown[] => {
  const list = given[name];
  const at = [...path, name];
  if (list === undefined || list === null) {
    const other = Object.keys(given).find((key) => key !== name && !beside.includes(key));
    if (other === undefined) return [];
    throw misplaced(
      at,
      `is missing, and "${clip(other, mostQuoted)}" is not a member that holds spans`,
    );
  }
  if (!Array.isArray(list)) throw misplaced(at, 'must be a list');
  return list;
};

/** Returns the entries of a list like `listIn`, and throws `invalid` unless each entry is an object. */
const messagesIn = (
  given: Record<string, unknown>,
  name: string,
  place: Place,
): Record<string, unknown>[] =>
  listIn(given, name, place).map((entry, index) => {
    if (isObject(entry)) return entry;
    throw misplaced([...place.path, name, String(index)], 'must be an object');
  });

const besideSpans = ['scope', 'schemaUrl'];
const besideScopes = ['resource', 'schemaUrl'];

const readScopeSpans = (
  given: Record<string, unknown>,
  resource: Attributes,
  path: readonly string[],
): SentScope => {
  const spans = listIn(given, 'spans', { path, beside: besideSpans });
  return { resource, scope: readScope(given.scope), spans: spans.map(readSpan) };
};

/** Reads an `ExportTraceServiceRequest`. Throws `invalid` if the body is another kind of export, or none. */
export const readJsonForm = (body: unknown): SentScope[] => {
  if (!isObject(body)) return [];
  return messagesIn(body, 'resourceSpans', { path: [], beside: [] }).flatMap((given, index) => {
    const path = ['resourceSpans', String(index)];
    const { resource } = given;
    const attributes = readAttributes(isObject(resource) ? resource.attributes : []);
    return messagesIn(given, 'scopeSpans', { path, beside: besideScopes }).map((one, place) =>
      readScopeSpans(one, attributes, [...path, 'scopeSpans', String(place)]),
    );
  });
};
