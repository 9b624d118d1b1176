/**
 * Validates and reads the spans of an export in either form. An invalid span is skipped and counted, and does not
 * affect the other spans.
 */
import { cleanText } from '../read-value.ts';
import { readSpan, type SpanStates } from './read-span.ts';
import type { SentScope, SentSpan, SpanBody } from './span.ts';

export type ReadExport = {
  spans: SpanStates[];
  /** Number of rejected spans; `reason` is why the first of them was rejected. */
  rejected: number;
  reason: string;
};

const traceIdForm = /^[0-9a-f]{32}$/i;
const spanIdForm = /^[0-9a-f]{16}$/i;
/** Returns true if the text has the form of an id and is not all zeros, which OpenTelemetry defines as no id. */
const isId = (text: string, form: RegExp): boolean => form.test(text) && /[^0]/.test(text);

/** Returns the valid span, or why it is invalid. */
const check = (sent: SentSpan | string): SpanBody | string => {
  if (typeof sent === 'string') return sent;
  const { traceId, spanId, parentId, startUs, endUs, statusMessage } = sent;
  if (!isId(traceId, traceIdForm)) {
    return 'a span needs a traceId of 16 bytes (32 hexadecimal digits), not all zero';
  }
  if (!isId(spanId, spanIdForm)) {
    return 'a span needs a spanId of 8 bytes (16 hexadecimal digits), not all zero';
  }
  const beginUs = startUs ?? endUs;
  if (beginUs === undefined) {
    return 'a span needs startTimeUnixNano or endTimeUnixNano, from 1970 up to 2199';
  }
  return {
    ...sent,
    traceId: traceId.toLowerCase(),
    spanId: spanId.toLowerCase(),
    parentId: isId(parentId, spanIdForm) ? parentId.toLowerCase() : null,
    name: cleanText(sent.name),
    startUs: beginUs,
    endUs: Math.max(endUs ?? beginUs, beginUs),
    statusMessage: statusMessage === '' ? null : statusMessage,
  };
};

/** Reads all spans of an export. */
export const readExport = (sent: readonly SentScope[]): ReadExport => {
  const read: ReadExport = { spans: [], rejected: 0, reason: '' };
  for (const { resource, scope, spans } of sent) {
    for (const one of spans) {
      const span = check(one);
      if (typeof span !== 'string') read.spans.push(readSpan({ ...span, resource, scope }));
      else {
        read.rejected += 1;
        read.reason ||= span;
      }
    }
  }
  return read;
};
