/**
 * Traces of how sessions open, for a collector of OpenTelemetry. Nothing is sent, or kept, unless an
 * endpoint is configured; how it is sent is `trace-export.ts`.
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
import type { TraceExport } from './trace-export.ts';

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

/** A step as it is kept until it is sent. */
export type ToldStep = {
  sessionId: string;
  program: string;
  step: Step;
};

const sendEveryMs = 1_000;
/** What a collector that is away costs at most; the oldest are dropped. */
const mostKept = 10_000;

const hashOf = (text: string, bytes: number): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, bytes * 2);

/** The id of a session's trace: 32 hexadecimal digits. */
export const traceIdOf = (sessionId: string): string => hashOf(`trace:${sessionId}`, 16);

/** The id of a step in its session's trace: 16 hexadecimal digits. */
export const spanIdOf = (sessionId: string, step: string): string =>
  hashOf(`${step}:${sessionId}`, 8);

const noTracer: Tracer = { add: () => undefined, loops: [], stop: async () => undefined };

const loadExport = async (endpoint: string): Promise<TraceExport> => {
  const { openTraceExport } = await import('./trace-export.ts');
  return openTraceExport(endpoint);
};

/** A tracer of a program. `endpoint` is that of the collector, as `OTEL_EXPORTER_OTLP_ENDPOINT` has it. */
export const startTracer = (program: string, endpoint: string | null, log: Log): Tracer => {
  if (endpoint === null) return noTracer;
  const loading = loadExport(endpoint);
  let kept: ToldStep[] = [];
  const send = async (): Promise<number> => {
    const sending = kept;
    if (sending.length === 0) return 0;
    kept = [];
    try {
      await (await loading).send(sending);
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
      kept.push({ sessionId, program: step.program ?? program, step });
    },
    loops: [loop],
    async stop() {
      await loop.stop();
      await send().catch((err: unknown) =>
        log.warn({ err: describeError(err), steps: kept.length }, 'traces were lost'),
      );
      await (await loading).close();
    },
  };
};
