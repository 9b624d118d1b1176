/** Configuration of the control plane, read from its environment. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserTier, browserTiers } from '#domain/session.ts';
import {
  parseSurfaceTemplate,
  type SurfaceTemplate,
  surfaceTemplateForm,
} from '#domain/surface-address.ts';
import { type Env, type EnvReader, readEnv } from '#runtime/env.ts';
import { type ListenAddress, parseAddress, readListen } from '#runtime/listen.ts';
import type { LogLevel } from '#runtime/log.ts';
import { readMetricsListen } from '#runtime/metrics.ts';
import { Secret } from '#runtime/secret.ts';
import { bundledTemplatesDir } from '#runtime/templates.ts';
import { readOtlpEndpoint } from '#runtime/tracing.ts';
import type { Quotas } from './base/fairness/quotas.ts';
import type { BlobStoreConfig } from './platform/blobs/blobs.ts';
import { readBlobs } from './platform/blobs/read-config.ts';
import type { KeyPair } from './platform/tokens/keys-in-use.ts';

/** Names of the separate listeners: for the public API, for the host API, and for the APIs of the other programs. */
export const listenerNames = ['public', 'host', 'internal'] as const;
export type ListenerName = (typeof listenerNames)[number];

/** Limits of the processes that compile and check the file trees of worlds. */
export type CompileLimits = {
  /** Maximum number of trees compiled at once, each in a process of its own; two more processes run short checks. */
  processes: number;
  /**
   * Maximum number of trees that wait for a process. Short checks have a larger queue of their own, for bursts of
   * opens.
   */
  queued: number;
  /** Time limit of one job, in milliseconds, without the time that it waits. */
  timeLimitMs: number;
  /** Heap of one process, in MiB. */
  memoryMb: number;
  /** Processor time, in seconds, that one project may spend in a minute on trees, and again as much on checks. */
  secondsPerMinute: number;
};

/** Limits of the processes that read rows of worlds. */
export type QueryLimits = {
  /** Maximum number of queries that run at once, each in a process of its own. */
  processes: number;
  /** Time limit of one query, in milliseconds, without the time that it waits. */
  timeLimitMs: number;
  /** Heap of one process, in MiB. */
  memoryMb: number;
};

/** Limits of one import. */
export type ImportLimits = {
  /** Time limit of the import, in milliseconds. */
  timeLimitMs: number;
  /** Maximum private memory of the import's process, in MiB. */
  memoryMb: number;
  /**
   * Maximum disk space of the import's folder, in MiB. The unpacked snapshots on this machine together may take the
   * same amount.
   */
  diskMib: number;
};

export type ControlConfig = {
  /** Database URL; a secret, because it holds a password. */
  databaseUrl: Secret;
  /** Addresses of each listener; every one is bound, and port 0 takes any free port. */
  listen: Record<ListenerName, ListenAddress[]>;
  /** Addresses that serve `/metrics` and `/status`; none when empty. */
  metricsListen: ListenAddress[];
  /** Base URL by which clients reach this control plane. Null: the first address of the public API. */
  publicUrl: string | null;
  /** Further hosts and origins that requests to the MCP servers may name, see `http/server/cross-site.ts`. */
  allowed: { hosts: string[]; origins: string[] };
  /** Store for the bundles and snapshots of worlds. */
  blobs: BlobStoreConfig;
  /** Folder for temporary files: received uploads, and the working files of imports. */
  workDir: string;
  /**
   * Allowed targets of connectors of project files: a folder of this machine, and endpoints of private bucket
   * services.
   */
  files: { folder: string | null; endpoints: string[] };
  templatesDir: string;
  /** Secret that host tokens and session tokens derive from; all replicas share it. */
  secret: Secret;
  /** True if a host's token is accepted only from the address of the host's first report. */
  pinHosts: boolean;
  poolToken: Secret;
  /** Token of operators. Null: operators use the pool token. */
  adminToken: Secret | null;
  /** Token of senders of webhooks. Null: there are no senders, and no webhooks are pushed. */
  senderToken: Secret | null;
  /**
   * Template of the surface names that gateways serve, and the token of gateways. Null: clients connect to hosts
   * directly.
   */
  gateway: { template: SurfaceTemplate; token: Secret } | null;
  /**
   * Address that tunnels of browsers connect to for surfaces behind a gateway; null: the address that the name
   * resolves to.
   */
  surfacesAt: ListenAddress | null;
  /** Browser tier of sessions if neither they nor their project nor its organization set one. */
  browserTier: BrowserTier;
  /**
   * Upper bound for the sessions that one host serves before it is replaced; the own limit of each host is between half
   * of this number and this number.
   */
  hostMaxUses: number;
  /** Default quotas of a project; its row may override them. */
  quotas: Quotas;
  /**
   * Default rate limit: requests a minute for each key or token, unless its project overrides it; null for no limit.
   */
  rateLimit: number | null;
  /** Minutes for which a deleted world keeps its bytes. */
  deletedGraceMinutes: number;
  /** Limits beyond which an open that would have to wait for a host is refused. */
  opens: {
    /** Maximum number of waiting sessions with the same host requirements. */
    most: number;
    /**
     * Maximum wait of the first session in the queue, in milliseconds. After a longer wait, further opens are refused
     * if more sessions wait than hosts will become free, and hosts change sessions quickly.
     */
    waitMs: number;
  };
  /** Maximum size of all large bodies that are received or processed at once, for all callers together, in MiB. */
  uploadMib: number;
  /** Limits on compiling the worlds that clients send. */
  compile: CompileLimits;
  /** Limits of one import, and how many imports run at once. */
  imports: ImportLimits & { processes: number };
  /** Limits on reading the rows of worlds. */
  queries: QueryLimits;
  /** Shutdown phases, in milliseconds. */
  shutdown: {
    /** Time for which it reports not ready but still serves, so that load balancers route requests elsewhere. */
    drainMs: number;
    /** Time for requests under way to finish, once no new ones are accepted. */
    finishMs: number;
  };
  /** Key pairs that exist from the start: of the project `local/default`, or of the organization `local` itself. */
  bootstrap: readonly KeyPair[];
  /** OTLP endpoint that traces are exported to; null for none. */
  otlpEndpoint: string | null;
  logLevel: LogLevel;
};

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** Reads the address for tunnels to surfaces behind a gateway; null if it is not set. */
const readSurfacesAt = (env: EnvReader): ControlConfig['surfacesAt'] => {
  const text = env.optionalText('SVC_SURFACES_AT');
  if (text === undefined) return null;
  const address = parseAddress(text);
  if (address === undefined) env.refuse(`SVC_SURFACES_AT is "${text}", not host:port`);
  return address ?? null;
};

const readGateway = (env: EnvReader): ControlConfig['gateway'] => {
  const url = env.optionalText('SVC_GATEWAY_URL');
  const hasToken = env.optionalText('SVC_GATEWAY_TOKEN') !== undefined;
  if (url === undefined && !hasToken) return null;
  const template = parseSurfaceTemplate(url ?? '');
  if (url === undefined || !hasToken) {
    env.refuse('SVC_GATEWAY_URL and SVC_GATEWAY_TOKEN go together');
  } else if (template === undefined) {
    env.refuse(`SVC_GATEWAY_URL is "${url}", not of the form ${surfaceTemplateForm}`);
  }
  if (template === undefined || !hasToken) return null;
  return { template, token: env.rotatingSecret('SVC_GATEWAY_TOKEN') };
};

const wordsOf = (text: string | undefined): string[] => (text ?? '').split(/\s+/).filter(Boolean);

/** Reads key pairs. Several are separated by spaces or line ends, in the same order in both variables. */
const readPairs = (env: EnvReader, ofOrganization: boolean): KeyPair[] => {
  const [publicName, secretName] = ofOrganization
    ? ['SVC_BOOTSTRAP_ORGANIZATION_PUBLIC_KEY', 'SVC_BOOTSTRAP_ORGANIZATION_SECRET_KEY']
    : ['SVC_BOOTSTRAP_PUBLIC_KEY', 'SVC_BOOTSTRAP_SECRET_KEY'];
  const publicKeys = wordsOf(env.optionalText(publicName));
  const secretKeys = wordsOf(env.optionalText(secretName));
  if (publicKeys.length !== secretKeys.length) {
    env.refuse(`${publicName} and ${secretName} go together, key by key`);
    return [];
  }
  if (new Set(publicKeys).size < publicKeys.length) env.refuse(`${publicName} has a key twice`);
  if (!publicKeys.every((key) => key.startsWith('pk-')))
    env.refuse(`${publicName} does not begin with pk-`);
  if (!secretKeys.every((key) => key.startsWith('sk-')))
    env.refuse(`${secretName} does not begin with sk-`);
  return publicKeys.map((publicKey, at) => ({
    publicKey,
    secretKey: new Secret(secretKeys[at] ?? ''),
    ofOrganization,
  }));
};

/** Reads the allowed hosts and origins, separated by commas or spaces. */
const readAllowed = (env: EnvReader): ControlConfig['allowed'] => {
  const listOf = (name: string): string[] =>
    (env.optionalText(name) ?? '').split(/[\s,]+/).filter(Boolean);
  const hosts = listOf('SVC_ALLOWED_HOSTS');
  const origins = listOf('SVC_ALLOWED_ORIGINS');
  for (const host of hosts) {
    if (URL.parse(`http://${host}`)?.host !== host.toLowerCase())
      env.refuse(`SVC_ALLOWED_HOSTS has "${host}", which is no host like svc.example.com`);
  }
  for (const origin of origins) {
    if (URL.parse(origin)?.origin !== origin.toLowerCase())
      env.refuse(
        `SVC_ALLOWED_ORIGINS has "${origin}", which is no origin like https://app.example.com`,
      );
  }
  return { hosts, origins };
};

const readFiles = (env: EnvReader): ControlConfig['files'] => {
  const endpoints = (env.optionalText('SVC_FILES_ENDPOINTS') ?? '').split(/[\s,]+/).filter(Boolean);
  for (const endpoint of endpoints) {
    if (URL.parse(endpoint)?.origin !== endpoint)
      env.refuse(
        `SVC_FILES_ENDPOINTS has "${endpoint}", which is no origin like http://minio.internal:9000`,
      );
  }
  return { folder: env.optionalText('SVC_FILES_FOLDER') ?? null, endpoints };
};

const readBootstrap = (env: EnvReader): KeyPair[] => {
  const pairs = [...readPairs(env, false), ...readPairs(env, true)];
  if (new Set(pairs.map(({ publicKey }) => publicKey)).size === pairs.length) return pairs;
  env.refuse('SVC_BOOTSTRAP_ORGANIZATION_PUBLIC_KEY has a key of SVC_BOOTSTRAP_PUBLIC_KEY');
  return [];
};

/** Reads the rate limit; null if it is 0 or not set. */
const readRateLimit = (env: EnvReader): number | null => {
  const perMinute = env.integer('SVC_RATE_LIMIT', { min: 0, max: 10_000_000, fallback: 0 });
  return perMinute === 0 ? null : perMinute;
};

const readCompile = (env: EnvReader): CompileLimits => ({
  processes: env.integer('SVC_COMPILE_PROCESSES', { min: 1, max: 64, fallback: 2 }),
  queued: env.integer('SVC_COMPILE_QUEUED', { min: 0, max: 1_000, fallback: 16 }),
  timeLimitMs: env.integer('SVC_COMPILE_TIME_LIMIT_MS', {
    min: 100,
    max: 600_000,
    fallback: 10_000,
  }),
  memoryMb: env.integer('SVC_COMPILE_MEMORY_MB', { min: 64, max: 16_384, fallback: 512 }),
  secondsPerMinute: env.integer('SVC_COMPILE_SECONDS_PER_MINUTE', {
    min: 1,
    max: 100_000,
    fallback: 30,
  }),
});

const readImports = (env: EnvReader): ControlConfig['imports'] => ({
  processes: env.integer('SVC_IMPORT_PROCESSES', { min: 0, max: 64, fallback: 1 }),
  memoryMb: env.integer('SVC_IMPORT_MEMORY_MB', { min: 128, max: 16_384, fallback: 600 }),
  timeLimitMs: env.integer('SVC_IMPORT_TIME_LIMIT_MS', {
    min: 1_000,
    max: 86_400_000,
    fallback: 3_600_000,
  }),
  diskMib: env.integer('SVC_IMPORT_DISK_MIB', { min: 64, max: 10_000_000, fallback: 8_192 }),
});

const readQuotas = (env: EnvReader): Quotas => {
  const atLeastOne = (name: string, max: number, fallback: number): number =>
    env.integer(name, { min: 1, max, fallback });
  return {
    sessions: atLeastOne('SVC_QUOTA_SESSIONS', 100_000, 1_000),
    opensPerMinute: atLeastOne('SVC_QUOTA_OPENS_PER_MINUTE', 100_000, 10_000),
    callsPerMinute: atLeastOne('SVC_QUOTA_CALLS_PER_MINUTE', 10_000_000, 120_000),
    queuedCalls: atLeastOne('SVC_QUOTA_QUEUED_CALLS', 1_000_000, 10_000),
    worlds: atLeastOne('SVC_QUOTA_WORLDS', 1_000_000, 1_000),
    blobMib: atLeastOne('SVC_QUOTA_BLOB_MIB', 1_000_000, 10_240),
    ledgerMib: atLeastOne('SVC_QUOTA_LEDGER_MIB', 1_000_000, 4_096),
    links: atLeastOne('SVC_QUOTA_LINKS', 1_000_000, 1_000),
    waits: atLeastOne('SVC_QUOTA_WAITS', 100_000, 4_000),
    // At least the largest body that any operation takes.
    uploadMib: env.integer('SVC_QUOTA_UPLOAD_MIB', { min: 48, max: 1_000_000, fallback: 128 }),
  };
};

/** Reads the configuration; throws `invalid` with every mistake in it. */
export const readConfig = (environment: Env): ControlConfig => {
  const env = readEnv(environment);
  const config: ControlConfig = {
    databaseUrl: env.secret('SVC_DATABASE_URL'),
    listen: {
      public: readListen(env, '127.0.0.1:4500'),
      host: readListen(env, '127.0.0.1:4501', 'SVC_HOST_LISTEN'),
      internal: readListen(env, '127.0.0.1:4502', 'SVC_INTERNAL_LISTEN'),
    },
    metricsListen: readMetricsListen(env),
    publicUrl: env.optionalText('SVC_PUBLIC_URL') === undefined ? null : env.url('SVC_PUBLIC_URL'),
    allowed: readAllowed(env),
    blobs: readBlobs(env),
    workDir: env.text('SVC_WORK_DIR', join(tmpdir(), 'svc-control')),
    files: readFiles(env),
    templatesDir: env.text('SVC_TEMPLATES_DIR', bundledTemplatesDir),
    secret: env.rotatingSecret('SVC_SECRET'),
    pinHosts: env.choice('SVC_PIN_HOSTS', ['yes', 'no'], 'yes') === 'yes',
    poolToken: env.rotatingSecret('SVC_POOL_TOKEN'),
    adminToken:
      env.optionalText('SVC_ADMIN_TOKEN') === undefined
        ? null
        : env.rotatingSecret('SVC_ADMIN_TOKEN'),
    senderToken:
      env.optionalText('SVC_SENDER_TOKEN') === undefined
        ? null
        : env.rotatingSecret('SVC_SENDER_TOKEN'),
    gateway: readGateway(env),
    surfacesAt: readSurfacesAt(env),
    browserTier: env.choice('SVC_BROWSER_TIER', browserTiers, 'standard'),
    hostMaxUses: env.integer('SVC_HOST_MAX_USES', { min: 1, max: 1_000_000, fallback: 200 }),
    quotas: readQuotas(env),
    rateLimit: readRateLimit(env),
    deletedGraceMinutes: env.integer('SVC_DELETED_GRACE_MINUTES', {
      min: 0,
      max: 525_600,
      fallback: 60,
    }),
    opens: {
      most: env.integer('SVC_OPEN_QUEUE', { min: 1, max: 1_000_000, fallback: 1_000 }),
      waitMs: env.integer('SVC_OPEN_WAIT_MS', { min: 1, max: 3_600_000, fallback: 100 }),
    },
    uploadMib: env.integer('SVC_UPLOAD_MIB', { min: 48, max: 1_000_000, fallback: 512 }),
    compile: readCompile(env),
    imports: readImports(env),
    queries: {
      processes: env.integer('SVC_QUERY_PROCESSES', { min: 1, max: 64, fallback: 3 }),
      timeLimitMs: env.integer('SVC_QUERY_TIME_LIMIT_MS', {
        min: 100,
        max: 600_000,
        fallback: 10_000,
      }),
      memoryMb: env.integer('SVC_QUERY_MEMORY_MB', { min: 64, max: 16_384, fallback: 256 }),
    },
    shutdown: {
      drainMs: env.integer('SVC_DRAIN_MS', { min: 0, max: 600_000, fallback: 0 }),
      finishMs: env.integer('SVC_FINISH_MS', { min: 0, max: 600_000, fallback: 2_500 }),
    },
    bootstrap: readBootstrap(env),
    otlpEndpoint: readOtlpEndpoint(env),
    logLevel: env.choice('SVC_LOG_LEVEL', logLevels, 'info'),
  };
  env.finish();
  return config;
};
