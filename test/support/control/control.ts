/**
 * A control plane in the test's own process, with the clients that a test needs: with the key pair, with the public
 * key alone, as an orchestrator, and as hosts. Every answer is checked against its operation's schema.
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
import type { Quotas } from '../../../src/control/base/fairness/quotas.ts';
import type { CompileLimits, ControlConfig } from '../../../src/control/config.ts';
import { type RunningControl, startControl } from '../../../src/control/program.ts';
import { execute } from '../database/sql.ts';
import { keptCompileProcess } from './compile-processes.ts';

/** Sends an operation and returns its answer, or throws the server's `AppError`. */
export type Send = <Shape extends OperationShape>(
  shape: Shape,
  input: ClientInput<Shape>,
) => Promise<Answer<Shape>>;

export type RawAnswer = { status: number; headers: Record<string, unknown>; body: unknown };

export type TestControl = {
  running: RunningControl;
  publicKey: string;
  secretKey: string;
  /** Sends with the key pair. */
  send: Send;
  /** Sends with the public key alone. */
  read: Send;
  /** Sends with the key pair of the organization. */
  account: Send;
  accountAuthorization: string;
  pool: Send;
  /** Sends with the admin token, or the pool token if there is none. */
  admin: Send;
  /** Sends with the senders' token. */
  sender: Send;
  /** Sends with the gateways' token, or a wrong one if there is none. */
  gateway: Send;
  /** Sends with a host's token, from an address, by default loopback. */
  asHost(token: string, from?: string): Send;
  /** Sends any request, with any headers. */
  raw(request: {
    method: string;
    path: string;
    headers?: Record<string, string>;
    body?: string;
  }): Promise<RawAnswer>;
  sql<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
};

/** A control plane that its starter has to stop. */
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

/** Base paths of the APIs of programs; all others are public. */
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

/** Quotas so high that no test reaches one by chance. */
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
  /** Parent of the control plane's folders; the system's temporary folder if absent. */
  parentFolder?: string;
  /** Control plane whose key pair the new one accepts, too. */
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
  /** Blob store; a folder of its own if absent. */
  blobs?: ControlConfig['blobs'];
  /** Folders and addresses that connectors of files may use; none if absent. */
  files?: ControlConfig['files'];
  /** Public address in answers; null for the address on which it listens. If absent, it has a name of its own. */
  publicUrl?: ControlConfig['publicUrl'];
  pinHosts?: boolean;
  otlpEndpoint?: string;
  /** Log; nothing is logged if absent. */
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
  templatesDir: join(import.meta.dirname, '../../../src/templates'),
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

/** Returns the `Authorization` header of the organization's key pair, which is one of the configuration. */
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

/** Returns a control plane with the clients of a project, all of which reach it through `inject`. */
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

/** Starts a control plane; the caller owns the database. */
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
