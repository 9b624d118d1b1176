/** What an export of OTLP holds, the same from both of its forms: `json-form.ts` and `protobuf-form.ts` make it. */
import type { Attributes } from './attributes.ts';

/** Something that happened within a span. */
export type SpanEvent = { name: string; attributes: Attributes };

/** Who made spans: the instrumentation. */
export type Scope = { name: string; version: string; attributes: Attributes };

/** What a span has besides its resource and its scope. */
export type SpanBody = {
  /** Hexadecimal, lower case: 32 and 16 digits. */
  traceId: string;
  spanId: string;
  parentId: string | null;
  name: string;
  /** Microseconds since 1970. */
  startUs: number;
  endUs: number;
  isError: boolean;
  /** Null: none was given. */
  statusMessage: string | null;
  attributes: Attributes;
  events: readonly SpanEvent[];
};

export type Span = SpanBody & { resource: Attributes; scope: Scope };

/** A span as it was sent, before it is looked at; an id that is none is any other text. */
export type SentSpan = {
  traceId: string;
  spanId: string;
  /** Empty: none. */
  parentId: string;
  name: string;
  /** Undefined: none, or none that a time can be. */
  startUs: number | undefined;
  endUs: number | undefined;
  isError: boolean;
  statusMessage: string;
  attributes: Attributes;
  events: readonly SpanEvent[];
};

/** Spans of one scope of one resource. A text is one that cannot be read: what is wrong with it. */
export type SentScope = { resource: Attributes; scope: Scope; spans: (SentSpan | string)[] };

/** Of one span. */
export const mostEvents = 1_000;

/** Up to 2199, as all times. */
const latestUs = Date.UTC(2200, 0, 1) * 1_000;

/** Microseconds that can be a time; undefined for others. */
export const timeOfUs = (us: number): number | undefined =>
  us > 0 && us < latestUs ? us : undefined;
