/**
 * The whole product for the sweep: its own PostgreSQL server, and all programs connected by links that can be
 * disturbed (link.ts). It serves many cases; each case repairs what it has broken.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basicAuthorization, type Client, createClient } from '#wire/client.ts';
import { createWorld } from '#wire/public-api/operations.ts';
import { retrying } from '#wire/retry.ts';
import { type PostgresServer, startPostgres } from '../../../src/cli/up/postgres.ts';
import {
  freePorts,
  type Network,
  type Ports,
  startNetwork,
} from '../../support/programs/network.ts';
import { prepareDocker } from '../../support/programs/prepare-docker.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';
import { type Containers, containersOf } from './containers.ts';
import { beginHistory } from './history.ts';
import { type Link, startLink } from './link.ts';
import { sweepWorld } from './world.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Parameters of the sweep: its seed, its numbers of cases, and in `only` the number of a single case to run. */
    sweep: {
      seed: number;
      /** Number of cases on all runtimes together; it determines which cases there are. */
      total: number;
      times: Record<Service['runtime'], number>;
      /** Number of cases of `webhooks.test.ts`. */
      webhooks: number;
      ingestion: number;
      /** Number of cases of `ledgers.test.ts`. */
      ledgers: number;
      /** Number of cases of `runs.test.ts`. */
      runs: number;
      /** Number of cases of `browsers.test.ts` on each runtime. */
      browsers: Record<Service['runtime'] | 'kubernetes', number>;
      only: number | null;
    };
  }
}

export const linkNames = ['client', 'host', 'pool', 'database'] as const;
/** Name of a link: the programs that reach the control plane by it, or the server that the control plane reaches. */
export type LinkName = (typeof linkNames)[number];

export type Service = {
  runtime: 'process' | 'docker';
  network: Network;
  links: Record<LinkName, Link>;
  containers: Containers;
  /** Folder of the control plane's blobs. */
  blobDir: string;
  /** Client on the disturbed link, which repeats requests that are safe to repeat. */
  client: Client;
  /** Client of the operator. */
  operator: Client;
  /** Client on an undisturbed link. */
  direct: Client;
  /** Stops the database server at once, as a crash would, and starts it again. */
  crashDatabase(downMs: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
};

export const poolSize = 2;
export const poolMax = 6;
const retryForMs = 30_000;

const loopback = '127.0.0.1';

type Place = { listen: string | undefined; name: string };

/** Returns where hosts reach this machine. */
const findPlace = async (runtime: Service['runtime'], installation: string): Promise<Place> => {
  if (runtime === 'process') return { listen: undefined, name: loopback };
  const { listen, host } = await prepareDocker(installation);
  return { listen: listen ?? undefined, name: host };
};

const startServer = async (dataDir: string, password: string, port?: number) =>
  await startPostgres({
    dataDir,
    password,
    flags: { fsync: 'off', max_connections: '60' },
    ...(port === undefined ? {} : { port }),
  });

type Links = Service['links'];

const startLinks = async (server: PostgresServer, ports: Ports, place: Place): Promise<Links> => {
  const to = (port: number) => ({ host: loopback, port });
  const [client, host, pool, database] = await Promise.all([
    startLink({ to: to(ports.public) }),
    startLink({ to: to(ports.host), host: place.listen }),
    startLink({ to: to(ports.internal) }),
    startLink({ to: to(server.port) }),
  ]);
  return { client, host, pool, database };
};

const urlOf = ({ host, port }: Link): string => `http://${host}:${port}`;

/** Starts the history of an empty database, creates the world of notes in it, and waits for a warm pool. */
export const beginWorld = async (network: Network): Promise<void> => {
  await beginHistory(network);
  await network.client.send(createWorld, {
    body: { slug: 'notes', from: encodeTree(sweepWorld()) },
  });
  await network.warm(poolSize);
};

/** Starts everything, with the world of notes and a warm pool. */
export const startService = async (runtime: Service['runtime']): Promise<Service> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-sweep-'));
  const dataDir = join(folder, 'pg');
  const blobDir = join(folder, 'blobs');
  const password = randomBytes(12).toString('hex');
  const installation = `sweep-${randomBytes(4).toString('hex')}`;
  const adminToken = randomBytes(24).toString('hex');
  const place = await findPlace(runtime, installation);
  let server = await startServer(dataDir, password);
  const databaseUrl = server.url();
  const ports = await freePorts();
  const links = await startLinks(server, ports, place);
  const disturbedUrl = new URL(databaseUrl);
  disturbedUrl.port = String(links.database.port);
  const network = await startNetwork({
    databaseUrl,
    runtime,
    installation,
    ports,
    poolSize,
    poolMax,
    env: {
      SVC_DATABASE_URL: disturbedUrl.href,
      SVC_ADMIN_TOKEN: adminToken,
      SVC_BLOB_DIR: blobDir,
      SVC_CONTROL_URL: urlOf(links.pool),
      SVC_HOST_CONTROL_URL: `http://${place.name}:${links.host.port}`,
    },
  });
  const baseUrl = `${urlOf(links.client)}/api/public`;
  const authorization = basicAuthorization(network.publicKey, network.secretKey);
  await beginWorld(network);
  return {
    runtime,
    network,
    links,
    containers: containersOf(runtime, installation),
    blobDir,
    client: retrying(createClient({ baseUrl, authorization }), { forMs: retryForMs }),
    operator: createClient({
      baseUrl: `${network.internalUrl}/api/admin`,
      authorization: `Bearer ${adminToken}`,
    }),
    direct: retrying(network.client, { forMs: retryForMs }),
    async crashDatabase(down) {
      process.kill(server.pid, 'SIGQUIT');
      await server.ended;
      await down();
      server = await startServer(dataDir, password, server.port);
    },
    async stop() {
      await network.stop();
      await Promise.all(Object.values(links).map((link) => link.stop()));
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
