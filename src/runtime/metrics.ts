/**
 * Serves a program's metrics in the text format of Prometheus, and the status of its loops, on separate addresses that
 * clients cannot reach. Each program defines its metrics in its `metrics.ts`.
 *
 * Each program has a registry of its own, because in tests several programs run in one process. The metrics of the
 * process are in a separate registry.
 */
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { describeError } from '#domain/error.ts';
import type { EnvReader } from './env.ts';
import {
  type Bound,
  bindAll,
  keepAliveTimeouts,
  type ListenAddress,
  readListen,
} from './listen.ts';
import type { Log } from './log.ts';
import type { LoopStatus } from './loop.ts';
import { pause } from './pause.ts';

/**
 * Reads the addresses for metrics and status from `SVC_METRICS_LISTEN`, in the format of `SVC_LISTEN`; none if it is
 * not set.
 */
export const readMetricsListen = (env: EnvReader): ListenAddress[] =>
  env.optionalText('SVC_METRICS_LISTEN') === undefined
    ? []
    : readListen(env, '', 'SVC_METRICS_LISTEN');

/** Answer of `GET /status`. Times are in ISO 8601 in UTC. */
export type ProgramStatus = {
  program: string;
  startedAt: string;
  loops: readonly LoopStatus<unknown>[];
  /** Further state that the program reports about itself, by name. */
  details: Record<string, unknown>;
};

export type Watched = {
  program: string;
  registry: Registry;
  loops(): readonly LoopStatus<unknown>[];
  details?(): Promise<Record<string, unknown>> | Record<string, unknown>;
  log: Log;
};

/** Histogram buckets from a millisecond to two minutes, in seconds, for the times of requests, claims and launches. */
export const secondsBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
];

/** Creates an empty registry. */
export const newRegistry = (): Registry => new Registry();

/**
 * Time limit for reading the values of gauges, in milliseconds. It is below Prometheus' own timeout, so that an answer
 * comes even if the database hangs.
 */
const readingMs = 4_000;

/**
 * Creates a reading for several gauges. Their `collect` functions share one call of `read` while it is in progress. If
 * the call fails or takes too long, the failure is logged and the reading returns false.
 */
export const readTogether = (
  read: () => Promise<void>,
  log: Log,
  atMostMs = readingMs,
): (() => Promise<boolean>) => {
  let reading: Promise<boolean> | undefined;
  const readOnce = async (): Promise<boolean> => {
    try {
      await read();
      return true;
    } catch (err) {
      log.warn({ err }, 'metrics could not be read');
      return false;
    } finally {
      reading = undefined;
    }
  };
  return async () => {
    reading ??= readOnce();
    const answered = new AbortController();
    const late = pause(atMostMs, answered.signal).then(() => false);
    const isRead = await Promise.race([reading, late]);
    answered.abort();
    return isRead;
  };
};

type LoopNumber = {
  name: string;
  help: string;
  of(status: LoopStatus<unknown>): number | undefined;
};

const loopNumbers: readonly LoopNumber[] = [
  {
    name: 'svc_loop_ticks_total',
    help: 'Ticks of a loop since the loop was started',
    of: ({ ticks }) => ticks,
  },
  {
    name: 'svc_loop_failures_total',
    help: 'Failed ticks of a loop since the loop was started',
    of: ({ failures }) => failures,
  },
  {
    name: 'svc_loop_failures_in_a_row',
    help: 'Failed ticks of a loop since its last successful tick',
    of: ({ failuresInARow }) => failuresInARow,
  },
  {
    name: 'svc_loop_last_tick_seconds',
    help: 'Duration of the last tick of a loop, in seconds',
    of: ({ tookMs }) => (tookMs === undefined ? undefined : tookMs / 1_000),
  },
  {
    name: 'svc_loop_last_success_timestamp_seconds',
    help: 'Time at which the last successful tick of a loop ended, in seconds since 1970',
    of: ({ succeededAt }) =>
      succeededAt === undefined ? undefined : Date.parse(succeededAt) / 1_000,
  },
];

/** Adds the metrics of each loop. The loop counts its own ticks, so the numbers start again from 0 with a new loop. */
const addLoopMetrics = ({ registry, loops }: Watched): void => {
  for (const { name, help, of } of loopNumbers) {
    const Kind = name.endsWith('_total') ? Counter : Gauge;
    new Kind({
      name,
      help,
      labelNames: ['loop'],
      registers: [registry],
      collect() {
        this.reset();
        for (const status of loops()) {
          const value = of(status);
          if (value !== undefined) this.inc({ loop: status.name }, value);
        }
      },
    });
  }
};

const send = (response: ServerResponse, status: number, type: string, body: string): void => {
  response.writeHead(status, { 'content-type': type }).end(body);
};

const json = 'application/json; charset=utf-8';

const answerStatus = async (watched: Watched, startedAt: string): Promise<string> => {
  const status: ProgramStatus = {
    program: watched.program,
    startedAt,
    loops: watched.loops(),
    details: (await watched.details?.()) ?? {},
  };
  return `${JSON.stringify(status, null, 2)}\n`;
};

/** Registry of the process; created at first use and kept, because its observers of the process cannot be removed. */
let ofProcess: Registry | undefined;

/** Returns the registry with Node's metrics of this process. All programs that tests run in one process share it. */
const processRegistry = (): Registry => {
  if (ofProcess === undefined) {
    ofProcess = newRegistry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
};

/** Returns the metrics of a program and of the process in which it runs. */
const metricsText = async (registry: Registry): Promise<string> =>
  (await registry.metrics()) + (await processRegistry().metrics());

const handlerOf = (watched: Watched): RequestListener => {
  const { registry, log } = watched;
  const startedAt = new Date().toISOString();
  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    if (path === '/metrics') send(response, 200, registry.contentType, await metricsText(registry));
    else if (path === '/status') send(response, 200, json, await answerStatus(watched, startedAt));
    else send(response, 404, 'text/plain', 'this address serves /metrics and /status\n');
  };
  return (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    answer(path, response).catch((err: unknown) => {
      log.error({ err, path }, 'metrics failed');
      send(response, 500, 'text/plain', `${describeError(err)}\n`);
    });
  };
};

/** Serves `/metrics` and `/status` on all addresses. If there are no addresses, nothing is served. */
export const serveMetrics = async (
  watched: Watched,
  listen: readonly ListenAddress[],
): Promise<Bound> => {
  if (listen.length === 0) return { addresses: [], stop: async () => undefined };
  processRegistry();
  addLoopMetrics(watched);
  const handle = handlerOf(watched);
  const bound = await bindAll(() => createServer(keepAliveTimeouts, handle), listen);
  watched.log.info({ addresses: bound.addresses }, 'serving metrics');
  return bound;
};
