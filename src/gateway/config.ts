/** Reads the configuration of the gateway from its environment. */
import { isIP } from 'node:net';
import {
  parseSurfaceTemplate,
  type SurfaceTemplate,
  surfaceTemplateForm,
} from '#domain/surface-address.ts';
import { type Env, type EnvReader, readEnv } from '#runtime/env.ts';
import { keepAliveTimeouts, type ListenAddress, readListen } from '#runtime/listen.ts';
import type { LogLevel } from '#runtime/log.ts';
import { readMetricsListen } from '#runtime/metrics.ts';
import type { Secret } from '#runtime/secret.ts';
import { readOtlpEndpoint } from '#runtime/tracing.ts';
import type { Limits } from './http/limits.ts';
import { type Network, type Ports, readNetwork } from './http/upstreams.ts';

export type GatewayConfig = {
  /** Addresses to listen on. The gateway binds every one; port 0 takes any free port. */
  listen: ListenAddress[];
  /** Addresses that serve metrics and status. If empty, neither is served. */
  metricsListen: ListenAddress[];
  /** Internal base address of the control plane. */
  controlUrl: string;
  token: Secret;
  /** Template of the public addresses of surfaces. */
  template: SurfaceTemplate;
  /** Networks and ports that hosts may use. The gateway connects to no other address. */
  hosts: { networks: Network[]; ports: Ports[] };
  /**
   * Number of proxies in front of the gateway whose `X-Forwarded-*` headers are trusted. 0 if clients connect
   * directly.
   */
  trustedHops: number;
  limits: Limits;
  /**
   * Phases of a shutdown, in milliseconds: for `drainMs` the gateway keeps serving but reports that it is not ready;
   * then open requests have `finishMs` to finish.
   */
  shutdown: { drainMs: number; finishMs: number };
  /** OTLP endpoint that traces are sent to; null turns tracing off. */
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

/** Networks that the internet never routes. Loopback is not among them. */
const privateNetworks = '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,fc00::/7';

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

const readPorts = (text: string): Ports | undefined => {
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const ports = { first: Number(from), last: Number(to) };
  return ports.first >= 1 && ports.first <= ports.last && ports.last <= 65_535 ? ports : undefined;
};

const usualPorts = '1024-65535';

/**
 * Reads the ports on which hosts can listen. The control plane must not be reachable as a host. If its address is a
 * name, its IP address is unknown here, so the operator has to list the ports.
 */
const readHostPorts = (env: EnvReader, controlUrl: string): string => {
  const name = URL.parse(controlUrl)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  const isNamed = name !== '' && isIP(name) === 0;
  if (isNamed && env.optionalText('SVC_HOST_PORTS') === undefined) {
    env.refuse(
      `SVC_HOST_PORTS is not set: "${name}" is a name, so only their ports distinguish hosts from the control plane; hosts in pods listen on 8080`,
    );
  }
  return env.text('SVC_HOST_PORTS', usualPorts);
};

const readHosts = (env: EnvReader, controlUrl: string): GatewayConfig['hosts'] => ({
  networks: wordsOf(env.text('SVC_HOST_NETWORKS', privateNetworks)).flatMap((word) => {
    const network = readNetwork(word);
    if (network === undefined) {
      env.refuse(`SVC_HOST_NETWORKS has "${word}", which is not a network such as 10.0.0.0/8`);
    }
    return network ?? [];
  }),
  ports: wordsOf(readHostPorts(env, controlUrl)).flatMap((word) => {
    const ports = readPorts(word);
    if (ports === undefined) {
      env.refuse(
        `SVC_HOST_PORTS has "${word}", which is neither a port nor a range of ports such as 1024-65535`,
      );
    }
    return ports ?? [];
  }),
});

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
    keepAliveMs: count('SVC_KEEP_ALIVE_MS', hourMs, keepAliveTimeouts.keepAliveTimeout),
    connectMs: count('SVC_CONNECT_MS', hourMs, 5_000),
    answerMs: count('SVC_ANSWER_MS', hourMs, 120_000),
    tunnelMs: count('SVC_TUNNEL_MS', 24 * hourMs, hourMs),
    halfClosedMs: count('SVC_HALF_CLOSED_MS', hourMs, 30_000),
  };
};

/** Reads the configuration, or throws `invalid` with every mistake in it. */
export const readConfig = (environment: Env): GatewayConfig => {
  const env = readEnv(environment);
  const controlUrl = env.url('SVC_CONTROL_URL');
  const config: GatewayConfig = {
    listen: readListen(env, '127.0.0.1:4600'),
    metricsListen: readMetricsListen(env),
    controlUrl,
    token: env.rotatingSecret('SVC_GATEWAY_TOKEN'),
    template: readTemplate(env),
    hosts: readHosts(env, controlUrl),
    trustedHops: env.integer('SVC_TRUSTED_HOPS', { min: 0, max: 10, fallback: 0 }),
    limits: readLimits(env),
    shutdown: {
      drainMs: env.integer('SVC_DRAIN_MS', { min: 0, max: 600_000, fallback: 0 }),
      finishMs: env.integer('SVC_FINISH_MS', { min: 0, max: 600_000, fallback: 10_000 }),
    },
    otlpEndpoint: readOtlpEndpoint(env),
    logLevel: env.choice('SVC_LOG_LEVEL', logLevels, 'info'),
  };
  env.finish();
  return config;
};
