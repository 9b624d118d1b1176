/**
 * Traces of how sessions open, for a collector of OpenTelemetry. Nothing is sent, or kept, unless an
 * endpoint is configured; how it is sent is `trace-export.ts`. A world host has no way out but to the
 * control plane: it tells its steps there.
 */
import { describeError } from '#domain/error.ts';
import type { EnvReader } from './env.ts';
import type { Log } from './log.ts';
import { startLoop } from './loop.ts';
import type { LoopView } from './loop-board.ts';
import type { TraceExport } from './trace-export.ts';
import type { Step, ToldStep } from './trace-steps.ts';

export type Tracer = {
  /** Adds a step to the trace of a session. */
  add(sessionId: string, step: Step): void;
  /** What sends them; none where there is no collector. */
  loops: readonly LoopView[];
  /** Sends what is left. */
  stop(): Promise<void>;
};

/** The collector: `OTEL_EXPORTER_OTLP_ENDPOINT`; null when it is not set. */
export const readOtlpEndpoint = (env: EnvReader): string | null => {
  const name = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  return env.optionalText(name) === undefined ? null : env.url(name);
};

const sendEveryMs = 1_000;
/** What a collector that is away costs at most; the oldest are dropped. */
const mostKept = 10_000;

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
