/** Configuration of the gateway, read from its environment. */
import {
  parseSurfaceTemplate,
  type SurfaceTemplate,
  surfaceTemplateForm,
} from '#domain/surface-address.ts';
import { type Env, type EnvReader, readEnv } from '#runtime/env.ts';
import { type ListenAddress, readListen } from '#runtime/listen.ts';
import type { LogLevel } from '#runtime/log.ts';
import { readMetricsListen } from '#runtime/metrics.ts';
import type { Secret } from '#runtime/secret.ts';
import { readOtlpEndpoint } from '#runtime/tracing.ts';

/** What one gateway takes on, and how long it waits for whom. Times are in milliseconds. */
export type Limits = {
  /** Request line and headers together. */
  headerBytes: number;
  bodyBytes: number;
  /** Connections of clients, idle ones among them; more are closed as they come. */
  connections: number;
  /** Requests and tunnels under way to one session. */
  perSession: number;
  /** Sessions whose routes are remembered. */
  routes: number;
  /** From the first byte of a request, or from the connection, to the end of its headers. */
  headersMs: number;
  /** A client that owes the next byte of a body, or takes none of an answer, for so long is cut off. */
  clientMs: number;
  /** A connection without a request is kept for so long. */
  keepAliveMs: number;
  /** A host takes a connection within this time. */
  connectMs: number;
  /** A host says something within this time: the head of its answer, then each piece of it. */
  answerMs: number;
  /** A tunnel through which nothing goes either way is kept for so long. */
  tunnelMs: number;
  /** A tunnel of which one side has ended is kept for so long without traffic. */
  halfClosedMs: number;
};

export type GatewayConfig = {
  /** Every address is bound; port 0 takes any free one. */
  listen: ListenAddress[];
  /** Where metrics and status are served; none: nowhere. */
  metricsListen: ListenAddress[];
  controlUrl: string;
  token: Secret;
  /** How the public address of a surface looks. */
  template: SurfaceTemplate;
  /** Proxies before it whose `X-Forwarded-*` are believed; 0 where clients connect directly. */
  trustedHops: number;
  limits: Limits;
  /** As those of the control plane: serve on unready, then finish what is under way. */
  ending: { drainMs: number; finishMs: number };
  /** Where traces are sent; nowhere when null. */
  otlpEndpoint: string | null;
  logLevel: LogLevel;
};

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
const hourMs = 3_600_000;

const readTemplate = (env: EnvReader): SurfaceTemplate => {
  const text = env.text('SVC_GATEWAY_URL');
  const template = parseSurfaceTemplate(text);
  if (template === undefined && text !== '') {
    env.refuse(`SVC_GATEWAY_URL is "${text}", not of the form ${surfaceTemplateForm}`);
  }
  return template ?? { scheme: 'https', suffix: '', port: '' };
};

const readLimits = (env: EnvReader): Limits => {
  const count = (name: string, max: number, fallback: number): number =>
    env.integer(name, { min: 1, max, fallback });
  return {
    headerBytes: count('SVC_HEADER_BYTES', 1_048_576, 32_768),
    bodyBytes: count('SVC_BODY_BYTES', 2 ** 40, 256 * 2 ** 20),
    connections: count('SVC_CONNECTIONS', 1_000_000, 20_000),
    perSession: count('SVC_PER_SESSION', 100_000, 256),
    routes: count('SVC_ROUTES', 1_000_000, 50_000),
    headersMs: count('SVC_HEADERS_MS', hourMs, 20_000),
    clientMs: count('SVC_CLIENT_MS', hourMs, 60_000),
    keepAliveMs: count('SVC_KEEP_ALIVE_MS', hourMs, 75_000),
    connectMs: count('SVC_CONNECT_MS', hourMs, 5_000),
    answerMs: count('SVC_ANSWER_MS', hourMs, 120_000),
    tunnelMs: count('SVC_TUNNEL_MS', 24 * hourMs, hourMs),
    halfClosedMs: count('SVC_HALF_CLOSED_MS', hourMs, 30_000),
  };
};

/** Reads the configuration, or throws `invalid` with every mistake in it. */
export const readConfig = (environment: Env): GatewayConfig => {
  const env = readEnv(environment);
  const config: GatewayConfig = {
    listen: readListen(env, '127.0.0.1:4600'),
    metricsListen: readMetricsListen(env),
    controlUrl: env.url('SVC_CONTROL_URL'),
    token: env.secret('SVC_GATEWAY_TOKEN'),
    template: readTemplate(env),
    trustedHops: env.integer('SVC_TRUSTED_HOPS', { min: 0, max: 10, fallback: 0 }),
    limits: readLimits(env),
    ending: {
      drainMs: env.integer('SVC_DRAIN_MS', { min: 0, max: 600_000, fallback: 0 }),
      finishMs: env.integer('SVC_FINISH_MS', { min: 0, max: 600_000, fallback: 10_000 }),
    },
    otlpEndpoint: readOtlpEndpoint(env),
    logLevel: env.choice('SVC_LOG_LEVEL', logLevels, 'info'),
  };
  env.finish();
  return config;
};
