/**
 * Reads the orchestrator's configuration from the environment into types. Each runtime has its own type of settings,
 * so that a configuration for one runtime cannot hold half of another's.
 */
import { isAbsolute } from 'node:path';
import { type HostKind, hostKinds } from '#domain/host.ts';
import { browserSize, runtimeNames, usualIsolation, usualSize } from '#domain/pool.ts';
import { readSessionLimits } from '#pools/check.ts';
import type { HostSize, PoolConfig } from '#pools/pool-config.ts';
import type { Settings } from '#pools/settings.ts';
import { type Env, type EnvReader, readEnv } from '#runtime/env.ts';
import type { ListenAddress } from '#runtime/listen.ts';
import type { LogLevel } from '#runtime/log.ts';
import { readMetricsListen } from '#runtime/metrics.ts';
import type { Secret } from '#runtime/secret.ts';
import { readOtlpEndpoint } from '#runtime/tracing.ts';
import {
  type BoundaryChoice,
  boundaryChoices,
  type SharedSnapshots,
} from './driver/host-environment.ts';
import { readKubernetes } from './driver/kubernetes/kubernetes-config.ts';
import type { ImageBuild, RuntimeConfig } from './driver/open/runtime-config.ts';
import { sandboxChoices } from './driver/process/sandbox.ts';

/** Configuration of the command `prepare`. */
export type PrepareConfig = {
  installation: string;
  runtime: RuntimeConfig;
  logLevel: LogLevel;
  /** Kinds of hosts that the pools will launch, as far as the environment determines them. */
  kinds: readonly HostKind[];
};

export type Config = PrepareConfig & {
  /** Internal address of the control plane, where it serves the pool API. */
  controlUrl: string;
  /** Address of the control plane's host API as hosts reach it. */
  hostControlUrl: string;
  poolToken: Secret;
  /** Addresses that serve `/metrics` and `/status`; if empty, nothing serves them. */
  metricsListen: ListenAddress[];
  /** Endpoint to which traces are exported; null if they are not exported. */
  otlpEndpoint: string | null;
  /** Name of this orchestrator in the lease. */
  holder: string;
  /** Path of the pools file; if absent, the environment describes the only pool. */
  poolsFile: string | undefined;
  /** Settings that the environment gives; a pools file replaces them. */
  settings: Settings;
  /** Policy for the boundary that hosts need to run user code; `usual` decides by the host's isolation. */
  userCodeBoundary: BoundaryChoice;
  /**
   * Folder in which containers of one machine share unpacked snapshots; undefined unless the operator configures it.
   */
  sharedSnapshots: SharedSnapshots | undefined;
  /** Certificate (PEM) of an additional authority that the browsers of sessions trust. */
  authority: string | undefined;
  /** Decides whether the hosts are destroyed or left running when the program stops. */
  onStop: 'destroy' | 'leave';
};

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

const readEngine = (read: EnvReader) => ({
  engine: read.optionalText('DOCKER_HOST'),
  home: read.optionalText('HOME'),
  baseImage: read.optionalText('SVC_BASE_IMAGE'),
});

const readRuntime = (read: EnvReader): RuntimeConfig => {
  const runtime = read.choice('SVC_RUNTIME', runtimeNames);
  if (runtime === 'kubernetes') return readKubernetes(read);
  if (runtime === 'process') {
    return {
      runtime,
      python: read.text('SVC_PYTHON', 'python3'),
      path: read.text('PATH', '/usr/local/bin:/usr/bin:/bin'),
      sandbox: read.choice('SVC_PROCESS_SANDBOX', sandboxChoices, 'auto'),
      chromium: read.optionalText('SVC_CHROMIUM'),
    };
  }
  return {
    runtime,
    ...readEngine(read),
    image: read.optionalText('SVC_IMAGE'),
    browserImage: read.optionalText('SVC_BROWSER_IMAGE'),
  };
};

const readSize = (read: EnvReader): HostSize => ({
  name: usualSize,
  memoryMb: read.integer('SVC_HOST_MEMORY_MB', { min: 128, max: 1_048_576, fallback: 512 }),
  cpus: read.integer('SVC_HOST_CPUS', { min: 1, max: 1_024, fallback: 1 }),
  pids: read.integer('SVC_HOST_PIDS', { min: 32, max: 65_536, fallback: 128 }),
});

/** Builds the single pool of an installation without a pools file; it serves every session. */
const readPool = (read: EnvReader, { runtime }: RuntimeConfig): PoolConfig => {
  const warm = read.integer('SVC_POOL_SIZE', { min: 0, max: 10_000, fallback: 2 });
  return {
    pool: 'default',
    tier: null,
    isolation: usualIsolation(runtime),
    size: readSize(read),
    minimum: warm,
    maximum: read.integer('SVC_POOL_MAX', { min: 1, max: 100_000, fallback: 64 }),
    target: warm,
    surge: 1,
    refill: { perSecond: 50, burst: 100 },
    maxAgeMs: null,
    maxAgeJitter: 0.2,
    startMs: 60_000,
    worlds: [],
  };
};

/**
 * Builds the browser pool of an installation without a pools file; undefined when the operator configures none. If no
 * browser is kept warm, the pool follows the rate at which sessions ask for browsers.
 */
const readBrowserPool = (read: EnvReader, { runtime }: RuntimeConfig): PoolConfig | undefined => {
  if (read.optionalText('SVC_BROWSER_POOL_SIZE') === undefined) return undefined;
  const warm = read.integer('SVC_BROWSER_POOL_SIZE', { min: 0, max: 10_000 });
  const maximum = read.integer('SVC_BROWSER_POOL_MAX', { min: 1, max: 100_000, fallback: 16 });
  const memoryMb = read.integer('SVC_BROWSER_MEMORY_MB', {
    ...{ min: 256, max: 1_048_576, fallback: 1_024 },
  });
  return {
    pool: 'browsers',
    tier: null,
    isolation: usualIsolation(runtime),
    size: { name: browserSize, memoryMb, cpus: 1, pids: 512 },
    minimum: Math.min(warm, maximum),
    maximum,
    target: warm === 0 ? 'auto' : Math.min(warm, maximum),
    surge: 1,
    refill: { perSecond: 5, burst: 10 },
    maxAgeMs: null,
    maxAgeJitter: 0.2,
    startMs: 60_000,
    worlds: [],
  };
};

const readPools = (read: EnvReader, runtime: RuntimeConfig): PoolConfig[] => {
  const browsers = readBrowserPool(read, runtime);
  return [readPool(read, runtime), ...(browsers === undefined ? [] : [browsers])];
};

const readSharedSnapshots = (read: EnvReader): SharedSnapshots | undefined => {
  const path = read.optionalText('SVC_SHARED_SNAPSHOTS');
  const mb = read.integer('SVC_SHARED_SNAPSHOTS_MB', { min: 1, max: 2 ** 24, fallback: 16_384 });
  if (path === undefined) return undefined;
  if (!isAbsolute(path)) {
    read.refuse(`SVC_SHARED_SNAPSHOTS is "${path}", which is no path from the root of a machine`);
  }
  return { path, mb };
};

/** Pattern of an installation's name, which is part of the names of containers, networks and folders. */
const installationPattern = /^[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/;

const readInstallation = (read: EnvReader): string => {
  const installation = read.text('SVC_INSTALLATION');
  if (installation !== '' && !installationPattern.test(installation)) {
    read.refuse(
      `SVC_INSTALLATION is "${installation}", not 1 to 48 small letters, digits and inner hyphens`,
    );
  }
  return installation;
};

const readShared = (read: EnvReader): PrepareConfig => ({
  installation: readInstallation(read),
  runtime: readRuntime(read),
  logLevel: read.choice('SVC_LOG_LEVEL', logLevels, 'info'),
  kinds: read.optionalText('SVC_BROWSER_POOL_SIZE') === undefined ? ['world'] : hostKinds,
});

/**
 * Returns the function that names a release's image by its repository; undefined when images are named by their hashes
 * alone.
 */
const readImageNames = (read: EnvReader): ((repository: string) => string) | undefined => {
  const registry = read.optionalText('SVC_IMAGE_REGISTRY')?.replace(/\/+$/, '');
  const tag = read.optionalText('SVC_IMAGE_TAG');
  if (tag === undefined) {
    if (registry !== undefined) read.refuse('SVC_IMAGE_REGISTRY is set, but SVC_IMAGE_TAG is not');
    return undefined;
  }
  if (!/^\w[\w.-]{0,127}$/.test(tag)) read.refuse(`SVC_IMAGE_TAG is "${tag}", which is no tag`);
  const before = registry === undefined ? '' : `${registry}/`;
  return (repository) => `${before}${repository}:${tag}`;
};

/** Reads the configuration for building images. Throws `invalid` with every mistake. */
export const readImageConfig = (env: Env): ImageBuild => {
  const read = readEnv(env);
  const config = { ...readEngine(read), names: readImageNames(read) };
  read.finish();
  return config;
};

/** Reads the configuration of `prepare`. Throws `invalid` with every mistake. */
export const readPrepareConfig = (env: Env): PrepareConfig => {
  const read = readEnv(env);
  const config = readShared(read);
  read.finish();
  return config;
};

/** Reads the configuration of the program. Throws `invalid` with every mistake. */
export const readConfig = (env: Env, hostname: string): Config => {
  const read = readEnv(env);
  const controlUrl = read.url('SVC_CONTROL_URL');
  const shared = readShared(read);
  const config: Config = {
    ...shared,
    controlUrl,
    hostControlUrl: read.url('SVC_HOST_CONTROL_URL'),
    poolToken: read.rotatingSecret('SVC_POOL_TOKEN'),
    metricsListen: readMetricsListen(read),
    otlpEndpoint: readOtlpEndpoint(read),
    holder: read.text('SVC_HOLDER', hostname),
    poolsFile: read.optionalText('SVC_POOLS_FILE'),
    settings: { pools: readPools(read, shared.runtime), sessions: readSessionLimits(read) },
    userCodeBoundary: read.choice('SVC_USER_CODE_BOUNDARY', boundaryChoices, 'usual'),
    sharedSnapshots: readSharedSnapshots(read),
    authority: read.optionalText('SVC_AUTHORITY'),
    onStop: read.choice('SVC_ON_STOP', ['leave', 'destroy'], 'leave'),
  };
  read.finish();
  return config;
};
