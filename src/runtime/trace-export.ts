/**
 * Exports steps of sessions as OpenTelemetry spans to a collector: OTLP over HTTP, by OpenTelemetry's own exporter.
 * `tracing.ts` loads this file only if a collector is configured, since its code takes 150 ms to load.
 */
import {
  type Link,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import {
  ExportResultCode,
  hrTimeDuration,
  millisToHrTime,
  parseTraceParent,
} from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { type ReportedStep, spanIdOf, traceIdOf, wholeStep } from './trace-steps.ts';

export type TraceExport = {
  /** Resolves when the collector has accepted all steps; rejects with the reason of a failure. */
  send(steps: readonly ReportedStep[]): Promise<void>;
  /** Closes the connections to the collector. */
  close(): Promise<void>;
};

type Span = Parameters<OTLPTraceExporter['export']>[0][number];

/** Time limit for one export, including the exporter's own retries, in milliseconds. */
const sendMs = 2_000;

const contextOf = (sessionId: string, key: string): SpanContext => ({
  traceId: traceIdOf(sessionId),
  spanId: spanIdOf(sessionId, key),
  traceFlags: TraceFlags.SAMPLED,
});

const linksOf = (causedBy: string | undefined): Link[] => {
  const context = causedBy === undefined ? null : parseTraceParent(causedBy);
  return context === null ? [] : [{ context }];
};

const toSpan = ({ sessionId, step }: ReportedStep, resource: Resource): Span => {
  const { name, key = name, beganMs, endedMs, within = wholeStep, error } = step;
  const startTime = millisToHrTime(beganMs);
  const endTime = millisToHrTime(Math.max(beganMs, endedMs));
  return {
    name,
    kind: SpanKind.INTERNAL,
    spanContext: () => contextOf(sessionId, key),
    ...(key === wholeStep ? {} : { parentSpanContext: contextOf(sessionId, within) }),
    startTime,
    endTime,
    duration: hrTimeDuration(startTime, endTime),
    ended: true,
    status:
      error === undefined
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, message: error },
    attributes: { 'svc.session.id': sessionId, ...step.attributes },
    links: linksOf(step.causedBy),
    events: [],
    resource,
    instrumentationScope: { name: 'svc' },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
};

/** Opens the export to a collector. `endpoint` is in the format of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
export const openTraceExport = (endpoint: string): TraceExport => {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: sendMs });
  const resources = new Map<string, Resource>();
  const resourceOf = (program: string): Resource => {
    const known = resources.get(program);
    if (known !== undefined) return known;
    const made = resourceFromAttributes({ 'service.name': program });
    resources.set(program, made);
    return made;
  };
  return {
    async send(steps) {
      const spans = steps.map((step) => toSpan(step, resourceOf(step.program)));
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      exporter.export(spans, ({ code, error }) => {
        if (code === ExportResultCode.SUCCESS) resolve();
        else reject(new Error(`the collector at ${url} did not accept traces`, { cause: error }));
      });
      await promise;
    },
    close: () => exporter.shutdown(),
  };
};
