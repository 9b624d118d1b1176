/**
 * Reads the JSON form of OTLP. Exporters differ: whole numbers come as text or as numbers, times as text, as numbers
 * or in two halves. Unknown members are left alone.
 */
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

/** A list of `{key, value}`; what is none of these is left out. */
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

/** Nanoseconds since 1970, in microseconds; undefined for none. */
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

/** Reads an `ExportTraceServiceRequest`. */
export const readJsonForm = (body: unknown): SentScope[] =>
  listOf(isObject(body) ? body.resourceSpans : [])
    .filter(isObject)
    .flatMap(({ resource, scopeSpans }) => {
      const attributes = readAttributes(isObject(resource) ? resource.attributes : []);
      return listOf(scopeSpans)
        .filter(isObject)
        .map(({ scope, spans }) => ({
          resource: attributes,
          scope: readScope(scope),
          spans: listOf(spans).map(readSpan),
        }));
    });
