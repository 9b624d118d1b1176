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
import type { KeyPair } from './platform/tokens/keys-in-use.ts';

/** What is served at addresses of its own: the public API, that of hosts, and those of the other programs. */
export const listenerNames = ['public', 'host', 'internal'] as const;
export type ListenerName = (typeof listenerNames)[number];

/** Limits of the processes that compile and check trees. */
export type CompileLimits = {
  /** Trees compiled at once, each by a process of its own; two more check single requests. */
  processes: number;
  /** Trees that may wait for a process; of checks there may be a burst of opens. */
  queued: number;
  /** Time that one job may take, in milliseconds; waiting does not count. */
  timeLimitMs: number;
  /** Heap of one process, in MiB. */
  memoryMb: number;
  /** Processor time that one project may spend in a minute on trees, and as much on checks, in seconds. */
  secondsPerMinute: number;
};

/** Limits of the processes that read rows of worlds. */
export type QueryLimits = {
  /** Queries that run at once, each in a process of its own. */
  processes: number;
  /** Time of one query, in milliseconds; waiting does not count. */
  timeLimitMs: number;
  /** Heap of one process, in MiB. */
  memoryMb: number;
};

/** What one import may take. */
export type ImportLimits = {
  /** Milliseconds. */
  timeLimitMs: number;
  /** Memory of its process that is its own, in MiB. */
  memoryMb: number;
  /** What lies in its folder, in MiB; the unpacked snapshots of a machine may take as much. */
  diskMib: number;
};

export type ControlConfig = {
  /** Holds a password, so it prints as a secret. */
  databaseUrl: Secret;
  /** Where each API is served; every address is bound, port 0 takes any free one. */
  listen: Record<ListenerName, ListenAddress[]>;
  /** Where `/metrics` and `/status` are served; nowhere when empty. */
  metricsListen: ListenAddress[];
  /** How clients reach this control plane. Null: at the first address of the public API. */
  publicUrl: string | null;
  /** Further hosts and origins that requests to the MCP servers may name, see `http/guard.ts`. */
  allowed: { hosts: string[]; origins: string[] };
  /** Where bundles and snapshots of worlds are kept. */
  blobs: BlobStoreConfig;
  /** Where files lie that are needed for a while: what is received, and what imports work on. */
  workDir: string;
  /** What connectors of project files may lead to: a folder of this machine, and services of buckets that are not public. */
  files: { folder: string | null; endpoints: string[] };
  templatesDir: string;
  /** Host tokens and session tokens derive from it; all replicas share one. */
  secret: Secret;
  /** Whether a host's token is taken only from the address from which the host first reported. */
  pinHosts: boolean;
  poolToken: Secret;
  /** What operators show. Null: the pool token. */
  adminToken: Secret | null;
  /** What senders of webhooks show. Null: there are none, and nothing is sent. */
  senderToken: Secret | null;
  /** How surfaces are named by gateways, and the token of these. Null: clients go to hosts directly. */
  gateway: { template: SurfaceTemplate; token: Secret } | null;
  /** Where tunnels of browsers lead to behind a gateway; null: where the names of surfaces say. */
  surfacesAt: ListenAddress | null;
  /** The tier of sessions where neither they nor their project nor its organization names one. */
  browserTier: BrowserTier;
  /** How many sessions one host serves before it is replaced, at most; each has its own limit above half. */
  hostMaxUses: number;
  /** What each project may use, unless its row says otherwise. */
  quotas: Quotas;
  /** Requests a minute that a key or token may make, unless its project says otherwise; null: any number. */
  rateLimit: number | null;
  /** Minutes that a deleted world keeps its bytes. */
  deletedGraceMinutes: number;
  /** When opens are refused that would have to wait for a host. */
  opens: {
    /** Sessions of one wish that may wait. */
    most: number;
    /** How long the first of them may have waited before others are refused, where hosts pass on quickly. */
    waitMs: number;
  };
  /** MiB of large bodies that it receives or works on at once, of all callers. */
  uploadMib: number;
  /** Bounds on compiling the worlds that clients send. */
  compile: CompileLimits;
  /** What imports may take, and how many are done at once. */
  imports: ImportLimits & { processes: number };
  /** Bounds on reading the rows of worlds. */
  queries: QueryLimits;
  /** How it ends once it is told to, in milliseconds. */
  shutdown: {
    /** It says that it is not ready and serves on, so that balancers send requests elsewhere. */
    drainMs: number;
    /** Then it takes no more requests; those under way may take so long to finish. */
    finishMs: number;
  };
  /** Key pairs that exist from the start: of the project `local/default`, or of the organization `local` itself. */
  bootstrap: readonly KeyPair[];
  /** Where traces are sent; nowhere when null. */
  otlpEndpoint: string | null;
  logLevel: LogLevel;
};

const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** `s3://bucket/prefix`: a bucket's name by Amazon's rules, then names without dots at their beginning. */
const bucketUrl = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w-][\w.-]*)*)\/?$/;

const isPlainUrl = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.password}` === '';
};

/** The names that Amazon's own tools read, and for what these have none one of ours. */
const readBucket = (env: EnvReader, url: string): BlobStoreConfig => {
  const [, bucket = '', path = ''] = bucketUrl.exec(url) ?? [];
  if (bucket === '') {
    env.refuse(`SVC_BLOB_URL is "${url}", not "database", s3://bucket or s3://bucket/prefix`);
  }
  const endpoint = env.optionalText('AWS_ENDPOINT_URL_S3');
  if (endpoint !== undefined && !isPlainUrl(endpoint)) {
    env.refuse('AWS_ENDPOINT_URL_S3 is not an http or https address without a user in it');
  }
  const region = env.optionalText('AWS_REGION');
  if (region === undefined && endpoint === undefined) {
    env.refuse('AWS_REGION is not set: SVC_BLOB_URL needs the region of its bucket');
  }
  const pathStyle = endpoint === undefined ? 'no' : 'yes';
  return {
    kind: 's3',
    bucket,
    prefix: path.slice(1),
    region: region ?? 'us-east-1',
    endpoint: endpoint ?? null,
    pathStyle: env.choice('SVC_BLOB_PATH_STYLE', ['yes', 'no'], pathStyle) === 'yes',
  };
};

/** One of them: replicas that kept blobs in different places would not find each other's worlds. */
const readBlobs = (env: EnvReader): BlobStoreConfig => {
  const folder = env.optionalText('SVC_BLOB_DIR');
  const url = env.optionalText('SVC_BLOB_URL');
  if (folder !== undefined && url !== undefined) {
    env.refuse('SVC_BLOB_DIR and SVC_BLOB_URL are both set: blobs are in one place');
  }
  if (folder === undefined && url === undefined) {
    env.refuse(
      'neither SVC_BLOB_DIR (a folder) nor SVC_BLOB_URL (s3://bucket/prefix or database) is set',
    );
  }
  if (url === 'database') return { kind: 'database' };
  return url === undefined ? { kind: 'folder', folder: folder ?? '' } : readBucket(env, url);
};

/** Both or none: an address without anybody who may ask for routes would lead nowhere. */
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

/** Several pairs have spaces, or ends of lines, between them in both variables, in the same order. */
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

/** Names of hosts and origins, with commas or spaces between. */
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

/** Off where it is 0 or not set. */
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
    // The largest body always has room.
    uploadMib: env.integer('SVC_QUOTA_UPLOAD_MIB', { min: 48, max: 1_000_000, fallback: 128 }),
  };
};

/** Reads the configuration, or throws `invalid` with every mistake in it. */
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
