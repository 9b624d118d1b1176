/**
 * The whole product on one machine for a test: control plane and orchestrator as real processes on a database of their
 * own, with world hosts on the process or the Docker runtime. A test can stop and start each program, and run several
 * control planes behind a balancer; `stop` ends everything.
 */
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import { basicAuthorization, type Client, createClient } from '#wire/client.ts';
import { execute } from '../database/sql.ts';
import { endServer } from '../gateway/gateway.ts';
import type { Balancer } from './balancer.ts';
import { type Program, startProgram } from './program.ts';

export type Ports = { public: number; host: number; internal: number };

export type NetworkOptions = {
  databaseUrl: string;
  poolSize?: number;
  poolMax?: number;
  idleMs?: number;
  runtime?: 'process' | 'docker' | 'kubernetes';
  /** Installation id; if absent, the network has one of its own. */
  installation?: string;
  /** Further environment of the control plane and the orchestrator. */
  env?: Record<string, string>;
  /** Further environment of the control plane alone. */
  controlEnv?: Record<string, string>;
  /**
   * Address that serves the host API, and the name by which hosts reach it, if the runtime needs another address than
   * loopback.
   */
  listen?: string;
  hostName?: string;
  /** Port of each API; any free ports if absent. */
  ports?: Ports;
  /** Balancer through which all programs reach the control planes; each control plane has one port for all its APIs. */
  balancer?: Balancer;
  /** Disposition of hosts when the orchestrator stops. */
  onStop?: 'destroy' | 'leave';
};

export type HostRow = {
  id: string;
  state: string;
  session_id: string | null;
  runtime_id: string | null;
  generation: number;
};

export type Network = {
  url: string;
  /** Address of the control plane for orchestrator, gateway and operators. */
  internalUrl: string;
  client: Client;
  publicKey: string;
  secretKey: string;
  /** Secret from which the control plane derives the tokens of hosts. */
  secret: Secret;
  /** Address of the control plane for hosts. */
  hostUrl: string;
  installation: string;
  control: Program;
  orchestrator: Program;
  /** Starts another replica; behind a balancer it resolves when the balancer sends requests there. */
  startControl(logTo?: number): Promise<Program>;
  startOrchestrator(holder?: string): Promise<Program>;
  /** Starts the control plane after it has ended; its log goes to the open file, if one is given. */
  restartControl(logTo?: number): Promise<void>;
  restartOrchestrator(): Promise<void>;
  /** Returns the hosts that are not gone, from the database. */
  hosts(): Promise<HostRow[]>;
  /** Resolves when this many hosts wait for a session. */
  warm(count: number): Promise<void>;
  sql<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
};

/** Ports below those that systems assign for port 0, and below those of a cluster's nodes. */
const firstPort = 16_000;
const lastPort = 29_999;

/**
 * Returns a port on which no program listens, and which the system assigns to no other before the program listens on
 * it.
 */
const freePort = async (): Promise<number> => {
  const port = randomInt(firstPort, lastPort + 1);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve, reject) => {
    server.once('listening', () => resolve(true));
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port);
  });
  if (!isFree) return freePort();
  await endServer(server);
  return port;
};

/** Returns three different ports. */
export const freePorts = async (): Promise<Ports> => {
  const ports = new Set<number>();
  while (ports.size < 3) ports.add(await freePort());
  const [first = 0, host = 0, internal = 0] = ports;
  return { public: first, host, internal };
};

/** Behind a balancer all APIs have one address, as while an older release is being replaced. */
const listenEnv = async (
  { listen = '127.0.0.1', balancer }: NetworkOptions,
  ports: Ports,
): Promise<Record<string, string>> => {
  if (balancer !== undefined) {
    const address = `127.0.0.1:${(await freePorts()).public}`;
    return { SVC_LISTEN: address, SVC_HOST_LISTEN: address, SVC_INTERNAL_LISTEN: address };
  }
  return {
    SVC_LISTEN: `127.0.0.1:${ports.public}`,
    SVC_HOST_LISTEN: `${listen}:${ports.host}`,
    SVC_INTERNAL_LISTEN: `127.0.0.1:${ports.internal}`,
  };
};

/** Returns the first address of a control plane. */
export const addressOf = ({ said }: Program): string => String((said.listening as string[])[0]);

/** Starts the programs; the caller owns the database. */
export const startNetwork = async (options: NetworkOptions): Promise<Network> => {
  const { balancer } = options;
  const ports = options.ports ?? (await freePorts());
  const url = balancer?.url ?? `http://127.0.0.1:${ports.public}`;
  const internalUrl = balancer?.url ?? `http://127.0.0.1:${ports.internal}`;
  const hostUrl = balancer?.url ?? `http://${options.hostName ?? '127.0.0.1'}:${ports.host}`;
  const blobDir = await mkdtemp(join(tmpdir(), 'svc-test-blobs-'));
  const publicKey = `pk-${randomUUID()}`;
  const secretKey = `sk-${randomUUID()}`;
  const poolToken = randomBytes(24).toString('hex');
  const installation = options.installation ?? `test-${randomBytes(4).toString('hex')}`;

  const secret = randomBytes(32).toString('hex');
  const controlEnv = {
    SVC_DATABASE_URL: options.databaseUrl,
    SVC_PUBLIC_URL: url,
    ...(options.env?.SVC_BLOB_URL === undefined ? { SVC_BLOB_DIR: blobDir } : {}),
    SVC_SECRET: secret,
    SVC_POOL_TOKEN: poolToken,
    SVC_LOG_LEVEL: 'info',
    SVC_BOOTSTRAP_PUBLIC_KEY: publicKey,
    SVC_BOOTSTRAP_SECRET_KEY: secretKey,
    ...options.env,
    ...options.controlEnv,
  };
  const orchestratorEnv = {
    SVC_CONTROL_URL: internalUrl,
    SVC_HOST_CONTROL_URL: hostUrl,
    SVC_POOL_TOKEN: poolToken,
    SVC_INSTALLATION: installation,
    SVC_RUNTIME: options.runtime ?? 'process',
    SVC_POOL_SIZE: String(options.poolSize ?? 2),
    SVC_POOL_MAX: String(options.poolMax ?? 16),
    SVC_IDLE_MS: String(options.idleMs ?? 1_800_000),
    SVC_ON_STOP: options.onStop ?? 'destroy',
    SVC_LOG_LEVEL: 'info',
    ...options.env,
  };
  const startControl = async (logTo?: number): Promise<Program> => {
    const listening = await listenEnv(options, ports);
    const env = { ...listening, ...controlEnv };
    const control = await startProgram('src/control/main.ts', env, logTo);
    await balancer?.add(addressOf(control));
    return control;
  };
  const startOrchestrator = (holder = 'test') =>
    startProgram('orchestrator/main.ts', { ...orchestratorEnv, SVC_HOLDER: holder });
  const sql = <Row extends object>(text: string, values: unknown[] = []) =>
    execute<Row>(options.databaseUrl, text, values);

  const network: Network = {
    url,
    internalUrl,
    client: createClient({
      baseUrl: `${url}/api/public`,
      authorization: basicAuthorization(publicKey, secretKey),
    }),
    publicKey,
    secretKey,
    secret: new Secret(secret),
    hostUrl,
    installation,
    control: await startControl(),
    orchestrator: await startOrchestrator(),
    startControl,
    startOrchestrator,
    restartControl: async (logTo) => {
      network.control = await startControl(logTo);
    },
    restartOrchestrator: async () => {
      network.orchestrator = await startOrchestrator();
    },
    hosts: () =>
      sql<HostRow>(
        `select id, state, session_id, runtime_id, generation from hosts where state <> 'gone' order by id`,
      ),
    warm: async (count) => {
      await until(
        async () => (await network.hosts()).filter((host) => host.state === 'warm').length >= count,
        { timeoutMs: 90_000, what: `${count} warm hosts` },
      );
    },
    sql,
    stop: async () => {
      await network.orchestrator.end('SIGTERM');
      await network.control.end('SIGTERM');
      await rm(blobDir, { recursive: true, force: true });
    },
  };
  return network;
};
