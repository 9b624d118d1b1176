/** Types of an OTLP export, which `json-form.ts` and `protobuf-form.ts` both produce. */
import type { Attributes } from './attributes.ts';

/** Event recorded within a span. */
export type SpanEvent = { name: string; attributes: Attributes };

/** Instrumentation scope that made the spans. */
export type Scope = { name: string; version: string; attributes: Attributes };

/** A span without its resource and its scope. */
export type SpanBody = {
  /** Id as lower-case hexadecimal digits: 32 for a trace, 16 for a span. */
  traceId: string;
  spanId: string;
  parentId: string | null;
  name: string;
  /** Time in microseconds since 1970. */
  startUs: number;
  endUs: number;
  isError: boolean;
  /** Null if the exporter gave no status message. */
  statusMessage: string | null;
  attributes: Attributes;
  events: readonly SpanEvent[];
};

export type Span = SpanBody & { resource: Attributes; scope: Scope };

/** A span as sent, before validation; an invalid id may be any text. */
export type SentSpan = {
  traceId: string;
  spanId: string;
  /** Id of the parent span; empty if there is no parent. */
  parentId: string;
  name: string;
  /** Time in microseconds since 1970; undefined if it is absent or not valid. */
  startUs: number | undefined;
  endUs: number | undefined;
  isError: boolean;
  statusMessage: string;
  attributes: Attributes;
  events: readonly SpanEvent[];
};

/** Spans of one scope of one resource. For a span that cannot be read, the list has a text with the reason. */
export type SentScope = { resource: Attributes; scope: Scope; spans: (SentSpan | string)[] };

/** Maximum number of events kept for one span. */
export const mostEvents = 1_000;

/** End of the valid times, in microseconds since 1970: the end of 2199, as for all telemetry. */
const latestUs = Date.UTC(2200, 0, 1) * 1_000;

/** Returns the microseconds if they are a valid time, else undefined. */
export const timeOfUs = (us: number): number | undefined =>
  us > 0 && us < latestUs ? us : undefined;
