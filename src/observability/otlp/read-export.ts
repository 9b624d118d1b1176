/**
 * Reads an export of traces in the JSON form of OTLP. One bad span never takes others with it: it is left out and
 * counted. Unknown members are left alone.
 */
import { isObject } from '#domain/json.ts';
import { cleanText } from '../read-value.ts';
import { type Attributes, readAttributes } from './attributes.ts';
import { readSpan, type Span, type SpanSaid } from './read-span.ts';

export type ReadExport = {
  spans: SpanSaid[];
  /** How many were left out, and why the first of them was. */
  rejected: number;
  reason: string;
};

const listOf = (given: unknown): unknown[] => (Array.isArray(given) ? given : []);

const traceIdForm = /^[0-9a-f]{32}$/i;
const spanIdForm = /^[0-9a-f]{16}$/i;

/** Up to 2199, as all times. */
const latestUs = Date.UTC(2200, 0, 1) * 1_000;

/** Nanoseconds since 1970 as text, as a number, or in two halves; in microseconds, undefined for none. */
const readNano = (given: unknown): number | undefined => {
  if (isObject(given) && typeof given.low === 'number' && typeof given.high === 'number') {
    return readNano((BigInt(given.high >>> 0) << 32n) + BigInt(given.low >>> 0));
  }
  let us: number | undefined;
  if (typeof given === 'string' && /^\d{1,20}$/.test(given)) us = Number(BigInt(given) / 1_000n);
  if (typeof given === 'bigint') us = Number(given / 1_000n);
  if (typeof given === 'number') us = Math.floor(given / 1_000);
  return us !== undefined && us > 0 && us < latestUs ? us : undefined;
};

const isErrorCode = (code: unknown): boolean => code === 2 || code === 'STATUS_CODE_ERROR';

/** The span, or what is wrong with it. */
const toSpan = (given: unknown, resource: Attributes): Span | string => {
  if (!isObject(given)) return 'a span must be an object';
  const { traceId, spanId, parentSpanId, name, status } = given;
  if (typeof traceId !== 'string' || !traceIdForm.test(traceId)) {
    return 'a span needs a traceId of 32 hexadecimal digits';
  }
  if (typeof spanId !== 'string' || !spanIdForm.test(spanId)) {
    return 'a span needs a spanId of 16 hexadecimal digits';
  }
  const start = readNano(given.startTimeUnixNano);
  const end = readNano(given.endTimeUnixNano);
  const startUs = start ?? end;
  if (startUs === undefined) return 'a span needs startTimeUnixNano or endTimeUnixNano';
  const hasParent = typeof parentSpanId === 'string' && /[1-9a-f]/i.test(parentSpanId);
  const { code, message } = isObject(status) ? status : {};
  return {
    traceId: traceId.toLowerCase(),
    spanId: spanId.toLowerCase(),
    parentId: hasParent && spanIdForm.test(parentSpanId) ? parentSpanId.toLowerCase() : null,
    name: typeof name === 'string' ? cleanText(name) : '',
    startUs,
    endUs: Math.max(end ?? startUs, startUs),
    isError: isErrorCode(code),
    statusMessage: typeof message === 'string' && message !== '' ? message : null,
    attributes: readAttributes(given.attributes),
    resource,
  };
};

/** Reads all spans of an `ExportTraceServiceRequest`. */
export const readExport = (body: unknown): ReadExport => {
  const read: ReadExport = { spans: [], rejected: 0, reason: '' };
  for (const ofResource of listOf(isObject(body) ? body.resourceSpans : [])) {
    if (!isObject(ofResource)) continue;
    const { resource } = ofResource;
    const attributes = readAttributes(isObject(resource) ? resource.attributes : []);
    for (const ofScope of listOf(ofResource.scopeSpans)) {
      for (const given of listOf(isObject(ofScope) ? ofScope.spans : [])) {
        const span = toSpan(given, attributes);
        if (typeof span !== 'string') read.spans.push(readSpan(span));
        else {
          read.rejected += 1;
          read.reason ||= span;
        }
      }
    }
  }
  return read;
};
