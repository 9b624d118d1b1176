/**
 * A control plane in the test's own process, with the callers that a test needs: the holder of the key
 * pair, the holder of the public key, an orchestrator, and hosts. Every answer is checked against the
 * schema that its operation declares.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import ajvFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { createLog, type Log } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { basicAuthorization } from '#wire/client.ts';
import { fromErrorAnswer } from '#wire/errors.ts';
import type { Access, Answer, ClientInput, OperationShape } from '#wire/operation.ts';
import type { Quotas } from '../../src/control/base/fairness/quotas.ts';
import type { CompileLimits, ControlConfig } from '../../src/control/config.ts';
import { type RunningControl, startControl } from '../../src/control/program.ts';
import { keptCompileProcess } from './compile-processes.ts';
import { execute } from './sql.ts';

/** Sends an operation and returns its answer, or throws the `AppError` that the server answered. */
export type Send = <Shape extends OperationShape>(
  shape: Shape,
  input: ClientInput<Shape>,
) => Promise<Answer<Shape>>;

export type RawAnswer = { status: number; headers: Record<string, unknown>; body: unknown };

export type TestControl = {
  running: RunningControl;
  publicKey: string;
  secretKey: string;
  /** By the key pair. */
  send: Send;
  /** By the public key alone. */
  read: Send;
  /** By the key pair of the organization. */
  account: Send;
  accountAuthorization: string;
  pool: Send;
  /** By the admin token, or the pool token where there is none. */
  admin: Send;
  /** By the senders' token. */
  sender: Send;
  /** By the gateways' token, or one that is wrong where there is none. */
  gateway: Send;
  /** By a host's token, from an address: loopback when not given. */
  asHost(token: string, from?: string): Send;
  /** Any request, with whatever headers. */
  raw(request: {
    method: string;
    path: string;
    headers?: Record<string, string>;
    body?: string;
  }): Promise<RawAnswer>;
  sql<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
};

/** One that its starter ends. */
export type StartedControl = TestControl & { config: ControlConfig; stop(): Promise<void> };

const ajv = new Ajv({ strict: true, allErrors: true });
ajvFormats.default(ajv);
ajv.addFormat('binary', true);
const validators = new WeakMap<TSchema, ValidateFunction>();

const checkAnswer = (shape: OperationShape, status: number, body: unknown): void => {
  const schema = shape.answers[status];
  if (schema === undefined || body instanceof Uint8Array) return;
  const validate = validators.get(schema) ?? ajv.compile(schema);
  validators.set(schema, validate);
  if (!validate(body)) {
    throw new Error(
      `${shape.id} answered what it does not declare: ${ajv.errorsText(validate.errors)}`,
    );
  }
};

/** Of programs; all else is public. */
const baseOf: Partial<Record<Access, string>> = {
  host: '/api/host',
  pool: '/api/pool',
  gateway: '/api/gateway',
  sender: '/api/sender',
  admin: '/api/admin',
};

const pathOf = (shape: OperationShape, input: ClientInput<OperationShape>): string => {
  const params = (input.params ?? {}) as Record<string, string>;
  const path = shape.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  );
  return `${baseOf[shape.access] ?? '/api/public'}${path}`;
};

const senderOf =
  ({ app }: RunningControl, authorization: string, from = '127.0.0.1'): Send =>
  async (shape, input) => {
    const given = input as ClientInput<OperationShape>;
    const query = (given.query ?? {}) as Record<string, unknown>;
    const answer = await app.inject({
      method: shape.method,
      url: pathOf(shape, given),
      remoteAddress: from,
      query: Object.fromEntries(
        Object.entries(query).map(([name, value]) => [name, String(value)]),
      ),
      headers: { authorization, ...((given.headers ?? {}) as Record<string, string>) },
      ...(given.body === undefined ? {} : { payload: given.body as object }),
    });
    const type = String(answer.headers['content-type']);
    const isBytes = type === 'application/octet-stream' || type === 'video/webm';
    const body: unknown = isBytes ? new Uint8Array(answer.rawPayload) : answer.json();
    if (!(answer.statusCode in shape.answers)) throw fromErrorAnswer(answer.statusCode, body);
    checkAnswer(shape, answer.statusCode, body);
    return { status: answer.statusCode, body } as Answer<typeof shape>;
  };

/** So much of everything that no test meets a quota by chance. */
const usualQuotas: Quotas = {
  sessions: 1_000,
  opensPerMinute: 10_000,
  callsPerMinute: 1_000_000,
  queuedCalls: 100_000,
  worlds: 10_000,
  blobMib: 100_000,
  ledgerMib: 100_000,
  links: 10_000,
  waits: 10_000,
  uploadMib: 10_000,
};

export type TestControlOptions = {
  databaseUrl: string;
  /** Parent of its folders; the system's temporary folder when not given. */
  parentFolder?: string;
  /** Whose key pair it has, too. */
  keysOf?: Pick<TestControl, 'publicKey' | 'secretKey'>;
  /** Another control plane, whose keys, secrets and blobs this replica shares. */
  replicaOf?: { config: ControlConfig };
  hostMaxUses?: number;
  quotas?: Partial<Quotas>;
  rateLimit?: number;
  uploadMib?: number;
  opens?: ControlConfig['opens'];
  compile?: Partial<CompileLimits>;
  imports?: Partial<ControlConfig['imports']>;
  queries?: Partial<ControlConfig['queries']>;
  gateway?: ControlConfig['gateway'];
  /** A folder of its own when not given. */
  blobs?: ControlConfig['blobs'];
  /** No folders and no addresses of its own when not given. */
  files?: ControlConfig['files'];
  /** What it is called in answers; null: where it is served. A name of its own when not given. */
  publicUrl?: ControlConfig['publicUrl'];
  pinHosts?: boolean;
  otlpEndpoint?: string;
  /** Where it logs to; absent: nowhere. */
  log?: Log;
};

const newConfig = async (options: TestControlOptions): Promise<ControlConfig> => ({
  databaseUrl: new Secret(options.databaseUrl),
  listen: {
    public: [{ host: '127.0.0.1', port: 0 }],
    host: [{ host: '127.0.0.1', port: 0 }],
    internal: [{ host: '127.0.0.1', port: 0 }],
  },
  metricsListen: [{ host: '127.0.0.1', port: 0 }],
  publicUrl: options.publicUrl === undefined ? 'https://svc.test' : options.publicUrl,
  allowed: { hosts: [], origins: [] },
  blobs: options.blobs ?? {
    kind: 'folder',
    folder: await mkdtemp(join(options.parentFolder ?? tmpdir(), 'svc-test-blobs-')),
  },
  workDir: await mkdtemp(join(options.parentFolder ?? tmpdir(), 'svc-test-work-')),
  files: options.files ?? { folder: null, endpoints: [] },
  templatesDir: join(import.meta.dirname, '../../src/templates'),
  secret: new Secret(randomUUID()),
  pinHosts: options.pinHosts ?? true,
  poolToken: new Secret(randomUUID()),
  adminToken: null,
  senderToken: new Secret(randomUUID()),
  gateway: options.gateway ?? null,
  surfacesAt: null,
  browserTier: 'standard',
  hostMaxUses: options.hostMaxUses ?? 50,
  deletedGraceMinutes: 60,
  quotas: { ...usualQuotas, ...options.quotas },
  rateLimit: options.rateLimit ?? null,
  uploadMib: options.uploadMib ?? 10_000,
  opens: options.opens ?? { most: 1_000, waitMs: 60_000 },
  compile: {
    processes: 1,
    queued: 8,
    timeLimitMs: 30_000,
    memoryMb: 512,
    secondsPerMinute: 10_000,
    ...options.compile,
  },
  imports: {
    processes: 1,
    memoryMb: 600,
    timeLimitMs: 120_000,
    diskMib: 4_096,
    ...options.imports,
  },
  queries: { processes: 2, timeLimitMs: 30_000, memoryMb: 256, ...options.queries },
  shutdown: { drainMs: 0, finishMs: 2_500 },
  bootstrap: [
    {
      publicKey: options.keysOf?.publicKey ?? `pk-${randomUUID()}`,
      secretKey: new Secret(options.keysOf?.secretKey ?? `sk-${randomUUID()}`),
    },
    {
      publicKey: `pk-${randomUUID()}`,
      secretKey: new Secret(`sk-${randomUUID()}`),
      ofOrganization: true,
    },
  ],
  otlpEndpoint: options.otlpEndpoint ?? null,
  logLevel: 'silent',
});

/** By the key pair of the organization, which is among those of the configuration. */
export const accountAuthorization = ({ bootstrap }: ControlConfig): string => {
  const pair = bootstrap.find(({ ofOrganization }) => ofOrganization === true);
  return basicAuthorization(pair?.publicKey ?? 'pk-none', pair?.secretKey.reveal() ?? '');
};

/** Credentials of a project: its key pair, and the `Authorization` of its organization. */
export type Callers = {
  publicKey: string;
  secretKey: string;
  accountAuthorization: string;
};

/** Returns a control plane with the callers of a project, all of which reach it through `inject`. */
export const callersOf = (
  { running, config }: { running: RunningControl; config: ControlConfig },
  { publicKey, secretKey, accountAuthorization }: Callers,
): TestControl => ({
  running,
  publicKey,
  secretKey,
  send: senderOf(running, basicAuthorization(publicKey, secretKey)),
  read: senderOf(running, `Bearer ${publicKey}`),
  account: senderOf(running, accountAuthorization),
  accountAuthorization,
  pool: senderOf(running, `Bearer ${config.poolToken.reveal()}`),
  admin: senderOf(running, `Bearer ${(config.adminToken ?? config.poolToken).reveal()}`),
  gateway: senderOf(running, `Bearer ${config.gateway?.token.reveal() ?? 'none'}`),
  sender: senderOf(running, `Bearer ${config.senderToken?.reveal() ?? 'none'}`),
  asHost: (token, from) => senderOf(running, `Bearer ${token}`, from),
  raw: async ({ method, path, headers = {}, body }) => {
    const answer = await running.app.inject({
      method: method as 'GET',
      url: path,
      headers,
      ...(body === undefined ? {} : { payload: body }),
    });
    const isJson = answer.body !== '' && String(answer.headers['content-type']).includes('json');
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: isJson ? answer.json() : answer.body,
    };
  },
  sql: (text, values = []) => execute(config.databaseUrl.reveal(), text, values),
});

/** Starts one; the caller owns the database. */
export const startTestControl = async (options: TestControlOptions): Promise<StartedControl> => {
  const config = options.replicaOf?.config ?? (await newConfig(options));
  const log = options.log ?? createLog('test', config.logLevel);
  const running = await startControl(config, log, keptCompileProcess);
  const publicKey = config.bootstrap[0]?.publicKey ?? '';
  const secretKey = config.bootstrap[0]?.secretKey.reveal() ?? '';
  const callers = { publicKey, secretKey, accountAuthorization: accountAuthorization(config) };
  return {
    config,
    ...callersOf({ running, config }, callers),
    stop: async () => {
      await running.stop();
      if (options.replicaOf !== undefined) return;
      await rm(config.workDir, { recursive: true, force: true });
      if (config.blobs.kind === 'folder')
        await rm(config.blobs.folder, { recursive: true, force: true });
    },
  };
};
