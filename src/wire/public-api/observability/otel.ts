/** Bodies of OpenTelemetry exporters: both encodings of OTLP, plain or compressed by gzip. */
import { operation } from '../../operation.ts';
import { type Static, Type } from '../../type.ts';

const exportBytes = 16 * 1024 * 1024;

export const SpansBody = Type.Object({
  resourceSpans: Type.Optional(
    Type.Array(Type.Unknown(), {
      maxItems: 100_000,
      description: 'spans as in OTLP; an invalid span is dropped and counted',
    }),
  ),
});
export type SpansBody = Static<typeof SpansBody>;

export const SpansAnswer = Type.Object({
  partialSuccess: Type.Optional(
    Type.Object({
      rejectedSpans: Type.String({ description: 'number of spans that were dropped' }),
      errorMessage: Type.String({ description: 'why the first of them was dropped' }),
    }),
  ),
});

export const ingestSpans = operation({
  id: 'ingestSpans',
  summary: 'Ingest spans of OpenTelemetry as observations, with the fields of their traces',
  method: 'POST',
  path: '/otel/v1/traces',
  access: 'write',
  body: SpansBody,
  protobuf: true,
  bodyBytes: exportBytes,
  overload: 503,
  answers: { 200: SpansAnswer },
  refusals: {
    503: 'Too much data is being ingested; `Retry-After` says when to send the spans again.',
  },
});

export const ingestMetrics = operation({
  id: 'ingestMetrics',
  summary: 'Accept metrics of OpenTelemetry; they are not stored',
  method: 'POST',
  path: '/otel/v1/metrics',
  access: 'write',
  body: Type.Object({
    resourceMetrics: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 100_000 })),
  }),
  protobuf: true,
  bodyBytes: exportBytes,
  overload: 503,
  answers: { 200: Type.Object({}) },
});
