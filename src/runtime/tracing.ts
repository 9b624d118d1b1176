/**
 * Traces session opens for an OpenTelemetry collector. If no endpoint is configured, nothing is kept or sent.
 * `trace-export.ts` sends the steps. A world host reaches only the control plane, so it reports its steps to the
 * control plane.
 */
import { describeError } from '#domain/error.ts';
import type { EnvReader } from './env.ts';
import type { Log } from './log.ts';
import { startLoop } from './loop.ts';
import type { LoopView } from './loop-board.ts';
import type { TraceExport } from './trace-export.ts';
import type { ReportedStep, Step } from './trace-steps.ts';

export type Tracer = {
  /** Adds a step to the trace of a session. */
  add(sessionId: string, step: Step): void;
  /** Loops that send the steps; empty if no collector is configured. */
  loops: readonly LoopView[];
  /** Sends the steps that were not sent yet, and stops. */
  stop(): Promise<void>;
};

/** Reads the collector's endpoint from `OTEL_EXPORTER_OTLP_ENDPOINT`; null if it is not set. */
export const readOtlpEndpoint = (env: EnvReader): string | null => {
  const name = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  return env.optionalText(name) === undefined ? null : env.url(name);
};

const sendEveryMs = 1_000;
/** Maximum number of steps kept while the collector is unreachable; the oldest are dropped first. */
const mostKept = 10_000;

const noTracer: Tracer = { add: () => undefined, loops: [], stop: async () => undefined };

const loadExport = async (endpoint: string): Promise<TraceExport> => {
  const { openTraceExport } = await import('./trace-export.ts');
  return openTraceExport(endpoint);
};

/** Starts the tracer of a program. `endpoint` is the collector's, in the format of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
export const startTracer = (program: string, endpoint: string | null, log: Log): Tracer => {
  if (endpoint === null) return noTracer;
  const loading = loadExport(endpoint);
  let kept: ReportedStep[] = [];
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
