/**
 * Traces of how sessions open, sent to a collector of OpenTelemetry (OTLP over HTTP, in JSON). Nothing is
 * sent, or kept, unless an endpoint is configured.
 *
 * The trace of a session, and each step in it, have ids that follow from the session's id. So programs
 * and replicas that know nothing of each other add to one trace, and nothing has to be carried or kept
 * for that. A world host has no way out but to the control plane: it tells its steps there.
 */
import { createHash } from 'node:crypto';
import { describeError } from '#domain/error.ts';
import type { EnvReader } from './env.ts';
import type { Log } from './log.ts';
import { startLoop } from './loop.ts';
import type { LoopView } from './loop-board.ts';

/** What took time. Times are in Unix milliseconds. */
export type Step = {
  /** Unique in its session's trace. */
  name: string;
  beganMs: number;
  endedMs: number;
  /** The step that it is part of; absent: that of the whole, `open`. */
  within?: string;
  attributes?: Record<string, string | number | boolean>;
  /** Why it failed. */
  error?: string;
  /** The W3C `traceparent` of who asked for it. */
  causedBy?: string | undefined;
  /** The program that did it, where it is not the one that tells. */
  program?: string;
};

export type Tracer = {
  /** Adds a step to the trace of a session. */
  add(sessionId: string, step: Step): void;
  /** What sends them; none where there is no collector. */
  loops: readonly LoopView[];
  /** Sends what is left. */
  stop(): Promise<void>;
};

/** The name of the step that all others are part of. */
export const wholeStep = 'open';

/** The collector: `OTEL_EXPORTER_OTLP_ENDPOINT`; null when it is not set. */
export const readOtlpEndpoint = (env: EnvReader): string | null => {
  const name = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  return env.optionalText(name) === undefined ? null : env.url(name);
};

const sendEveryMs = 1_000;
const sendMs = 5_000;
/** What a collector that is away costs at most; the oldest are dropped. */
const mostKept = 10_000;

const hashOf = (text: string, bytes: number): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, bytes * 2);

/** The id of a session's trace: 32 hexadecimal digits. */
export const traceIdOf = (sessionId: string): string => hashOf(`trace:${sessionId}`, 16);

const spanIdOf = (sessionId: string, name: string): string => hashOf(`${name}:${sessionId}`, 8);

const traceparentForm = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

const linksOf = (causedBy: string | undefined) => {
  const [, traceId, spanId] = traceparentForm.exec(causedBy ?? '') ?? [];
  return traceId === undefined ? [] : [{ traceId, spanId }];
};

const toValue = (value: string | number | boolean) => {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'boolean' ? { boolValue: value } : { doubleValue: value };
};

const toAttributes = (values: Record<string, string | number | boolean>) =>
  Object.entries(values).map(([key, value]) => ({ key, value: toValue(value) }));

const toNano = (ms: number): string => `${BigInt(Math.round(ms * 1_000))}000`;

const internal = 1;
const failedStatus = 2;

const toSpan = (sessionId: string, step: Step) => ({
  traceId: traceIdOf(sessionId),
  spanId: spanIdOf(sessionId, step.name),
  ...(step.name === wholeStep
    ? {}
    : { parentSpanId: spanIdOf(sessionId, step.within ?? wholeStep) }),
  name: step.name,
  kind: internal,
  startTimeUnixNano: toNano(step.beganMs),
  endTimeUnixNano: toNano(Math.max(step.beganMs, step.endedMs)),
  attributes: toAttributes({ 'svc.session.id': sessionId, ...step.attributes }),
  links: linksOf(step.causedBy),
  status: step.error === undefined ? {} : { code: failedStatus, message: step.error },
});

type Kept = { program: string; span: ReturnType<typeof toSpan> };

/** An `ExportTraceServiceRequest`, with the spans of each program together. */
const toRequest = (kept: readonly Kept[]) => ({
  resourceSpans: [...Map.groupBy(kept, ({ program }) => program)].map(([program, spans]) => ({
    resource: { attributes: toAttributes({ 'service.name': program }) },
    scopeSpans: [{ scope: { name: 'svc' }, spans: spans.map(({ span }) => span) }],
  })),
});

const post = async (url: string, body: object, signal: AbortSignal): Promise<void> => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  if (!answer.ok) throw new Error(`the collector at ${url} answered ${answer.status}`);
};

const noTracer: Tracer = { add: () => undefined, loops: [], stop: async () => undefined };

/** A tracer of a program. `endpoint` is that of the collector, as `OTEL_EXPORTER_OTLP_ENDPOINT` has it. */
export const startTracer = (program: string, endpoint: string | null, log: Log): Tracer => {
  if (endpoint === null) return noTracer;
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  let kept: Kept[] = [];
  const send = async (signal?: AbortSignal): Promise<number> => {
    const sending = kept;
    if (sending.length === 0) return 0;
    kept = [];
    const deadline = AbortSignal.timeout(sendMs);
    try {
      const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
      await post(url, toRequest(sending), either);
    } catch (error) {
      kept = [...sending, ...kept].slice(-mostKept);
      throw error;
    }
    return sending.length;
  };
  const loop = startLoop({ name: 'traces', everyMs: sendEveryMs, tick: send, log });
  return {
    add(sessionId, step) {
      if (kept.length >= mostKept) kept.shift();
      kept.push({ program: step.program ?? program, span: toSpan(sessionId, step) });
    },
    loops: [loop],
    async stop() {
      await loop.stop();
      await send().catch((err: unknown) =>
        log.warn({ err: describeError(err) }, 'traces were lost'),
      );
    },
  };
};
