/**
 * Control plane and sender as real processes, with receivers on loopback, for tests that kill them and for
 * measurements. Hosts are simulated. The caller owns the database.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basicAuthorization, type Client, createClient } from '#wire/client.ts';
import { createWorld, openSession } from '#wire/public-api/operations.ts';
import { retrying } from '#wire/retry.ts';
import type { TestControl } from '../control/control.ts';
import { type PlayedHost, warmHost } from '../control/host.ts';
import { execute } from '../database/sql.ts';
import { controlSettings } from '../programs/control-program.ts';
import { type Program, startProgram } from '../programs/program.ts';
import { encodeTree, notesWorld } from '../worlds/worlds.ts';
import { makeInternet } from './receivers.ts';
import type { TestInternet } from './sender-process.ts';

export type PushPrograms = {
  control: Program;
  sender: Program;
  startControl(): Promise<void>;
  startSender(): Promise<void>;
  /** Opens a session of a project with push turned on, on a host of its own. */
  open(): Promise<{ host: PlayedHost; sessionId: string }>;
  sql<Row extends object>(text: string): Promise<Row[]>;
  stop(): Promise<void>;
};

export type PushOptions = {
  databaseUrl: string;
  /** Names of receivers; each has an address of its own. */
  receivers: readonly string[];
  handle: RequestListener;
  /** Options of Node for both programs. */
  nodeOptions?: string;
};

const retryMs = 60_000;

const bearer = (baseUrl: string, token: string): Client['send'] =>
  createClient({ baseUrl, authorization: `Bearer ${token}` }).send;

const serveReceivers = async ({ receivers, handle }: PushOptions) => {
  const internet = await makeInternet();
  const addressOf = (at: number): string => `93.184.216.${1 + at}`;
  const port = await internet.serve(receivers, handle, addressOf(0));
  const given: TestInternet = {
    ca: internet.authority.ca,
    names: Object.fromEntries(receivers.map((name, at) => [name, [addressOf(at)]])),
    ports: Object.fromEntries(receivers.map((_, at) => [addressOf(at), port])),
  };
  return { internet, given };
};

/** Starts control plane and sender, with a world `notes` and push turned on. */
export const startPushPrograms = async (options: PushOptions): Promise<PushPrograms> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-push-'));
  const { internet, given } = await serveReceivers(options);
  const settings = await controlSettings(options.databaseUrl, folder);
  const { env: controlEnv, ports, publicKey, secretKey, poolToken, senderToken } = settings;
  const at = (port: number, api: string) => `http://127.0.0.1:${port}/api/${api}`;
  const senderEnv = {
    SVC_CONTROL_URL: `http://127.0.0.1:${ports.internal}`,
    SVC_SENDER_TOKEN: senderToken,
    TEST_INTERNET: JSON.stringify(given),
  };
  const node = options.nodeOptions === undefined ? {} : { NODE_OPTIONS: options.nodeOptions };
  const startControl = () => startProgram('src/control/main.ts', { ...controlEnv, ...node });
  const startSender = () =>
    startProgram('test/support/webhooks/sender-process.ts', { ...senderEnv, ...node });
  const played = {
    pool: bearer(at(ports.internal, 'pool'), poolToken),
    asHost: (token: string) => bearer(at(ports.host, 'host'), token),
  } as unknown as TestControl;
  const authorization = basicAuthorization(publicKey, secretKey);
  const plain = createClient({ baseUrl: at(ports.public, 'public'), authorization });
  const client = retrying(plain, { forMs: retryMs });
  const programs: PushPrograms = {
    control: await startControl(),
    sender: await startSender(),
    async startControl() {
      programs.control = await startControl();
    },
    async startSender() {
      programs.sender = await startSender();
    },
    async open() {
      const host = await warmHost(played);
      const { body } = await client.send(openSession, { body: { slug: 'notes' } });
      await host.poll();
      await host.ready();
      return { host, sessionId: body.id };
    },
    sql: (text) => execute(options.databaseUrl, text),
    async stop() {
      await programs.sender.end('SIGTERM');
      await programs.control.end('SIGTERM');
      await internet.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await client.send(createWorld, { body: { slug: 'notes', from: encodeTree(notesWorld()) } });
  await programs.sql('update projects set webhook_push_since = now()');
  return programs;
};
