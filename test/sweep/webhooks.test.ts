/**
 * Webhooks whose sender, control plane, or both, are killed while deliveries are on their way. Afterwards no delivery
 * was received twice, and each has one answer written down: what its receiver said, or the reason why that is not
 * known.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { pause, until } from '#runtime/pause.ts';
import { basicAuthorization, type Client, createClient } from '#wire/client.ts';
import { createWorld, openSession, updateProjectSettings } from '#wire/public-api/operations.ts';
import { retrying } from '#wire/retry.ts';
import { type PostgresServer, startPostgres } from '../../src/cli/up/postgres.ts';
import { createChance } from '../support/chance.ts';
import type { TestControl } from '../support/control.ts';
import { type PlayedHost, warmHost } from '../support/host.ts';
import { freePorts } from '../support/network.ts';
import { type Program, startProgram } from '../support/program.ts';
import { deliveryEntry, type KeptAnswer } from '../support/pushing.ts';
import { type Internet, makeInternet } from '../support/receivers.ts';
import type { TestInternet } from '../support/sender-process.ts';
import { execute } from '../support/sql.ts';
import { encodeTree, notesWorld } from '../support/worlds.ts';
import { isSingle } from './extent.ts';

const { seed, total } = inject('sweep');
const victims = ['sender', 'control plane', 'both'] as const;
type Case = { victim: (typeof victims)[number]; delayMs: number };

/** A fifth of the sweep is of webhooks. */
const chance = createChance(seed);
const cases: Case[] = Array.from({ length: isSingle ? 0 : Math.ceil(total / 5) }, (_, at) => ({
  victim: victims[(at + seed) % victims.length] ?? 'sender',
  delayMs: Math.round(chance.between(0, 600)),
}));

const timeoutMs = 120_000;
const receivers = ['one.receiver.dev', 'two.receiver.dev', 'three.receiver.dev'];
const addressOf = (at: number): string => `93.184.216.${34 + at}`;
/** Deliveries of a case, to so many subscriptions. */
const deliveries = 60;
const subscriptions = 12;

let folder: string;
let server: PostgresServer;
let internet: Internet;
let control: Program;
let sender: Program;
let env: Record<string, string>;
let senderEnv: Record<string, string>;
let played: TestControl;
let client: Client;
let baseUrls: { public: string; host: string; internal: string };
/** How often each delivery was received, by session and number. */
const received = new Map<string, number>();

const startControl = async (): Promise<void> => {
  control = await startProgram('src/control/main.ts', env);
};
const startSender = async (): Promise<void> => {
  sender = await startProgram('test/support/sender-process.ts', senderEnv);
};

const bearer = (baseUrl: string, token: string): Client['send'] =>
  createClient({ baseUrl, authorization: `Bearer ${token}` }).send;

const serveReceivers = async (): Promise<TestInternet> => {
  internet = await makeInternet();
  const ports: Record<string, number> = {};
  const names: Record<string, string[]> = {};
  for (const [at, name] of receivers.entries()) {
    names[name] = [addressOf(at)];
    ports[addressOf(at)] = await internet.serve(
      [name],
      (request, response) => {
        const key = String(request.headers['x-delivery']);
        received.set(key, (received.get(key) ?? 0) + 1);
        request.resume();
        const rest = setTimeout(() => response.writeHead(200).end('ok'), chance.between(0, 30));
        response.on('close', () => clearTimeout(rest));
      },
      addressOf(at),
    );
  }
  return { ca: internet.authority.ca, names, ports };
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-sweep-webhooks-'));
  const flags = { max_connections: '40' };
  server = await startPostgres({
    dataDir: join(folder, 'pg'),
    password: randomBytes(12).toString('hex'),
    flags,
  });
  const ports = await freePorts();
  const at = (port: number, api: string) => `http://127.0.0.1:${port}/api/${api}`;
  baseUrls = {
    public: at(ports.public, 'public'),
    host: at(ports.host, 'host'),
    internal: at(ports.internal, 'pool'),
  };
  const [publicKey, secretKey] = [`pk-${randomUUID()}`, `sk-${randomUUID()}`];
  const [poolToken, senderToken] = [randomUUID(), randomUUID()];
  env = {
    SVC_DATABASE_URL: server.url(),
    SVC_LISTEN: `127.0.0.1:${ports.public}`,
    SVC_HOST_LISTEN: `127.0.0.1:${ports.host}`,
    SVC_INTERNAL_LISTEN: `127.0.0.1:${ports.internal}`,
    SVC_BLOB_DIR: join(folder, 'blobs'),
    SVC_WORK_DIR: join(folder, 'work'),
    SVC_SECRET: randomBytes(32).toString('hex'),
    SVC_POOL_TOKEN: poolToken,
    SVC_SENDER_TOKEN: senderToken,
    SVC_BOOTSTRAP_PUBLIC_KEY: publicKey,
    SVC_BOOTSTRAP_SECRET_KEY: secretKey,
  };
  senderEnv = {
    SVC_CONTROL_URL: `http://127.0.0.1:${ports.internal}`,
    SVC_SENDER_TOKEN: senderToken,
    TEST_INTERNET: JSON.stringify(await serveReceivers()),
  };
  await startControl();
  await startSender();
  const authorization = basicAuthorization(publicKey, secretKey);
  client = retrying(createClient({ baseUrl: baseUrls.public, authorization }), { forMs: 60_000 });
  played = {
    pool: bearer(baseUrls.internal, poolToken),
    asHost: (token: string) => bearer(baseUrls.host, token),
  } as unknown as TestControl;
  await client.send(createWorld, { body: { slug: 'notes', from: encodeTree(notesWorld()) } });
  await client.send(updateProjectSettings, { body: { webhookPush: true } });
}, timeoutMs);

afterAll(async () => {
  await sender.end('SIGTERM');
  await control.end('SIGTERM');
  await server.stop();
  await internet.close();
  await rm(folder, { recursive: true, force: true });
});

const sql = <Row extends object>(text: string): Promise<Row[]> => execute<Row>(server.url(), text);

const openOnHost = async (): Promise<{ host: PlayedHost; sessionId: string }> => {
  const host = await warmHost(played);
  const { body } = await client.send(openSession, { body: { slug: 'notes' } });
  await host.poll();
  await host.ready();
  return { host, sessionId: body.id };
};

/** Tells of a delivery as a host does: again and again, until it was taken. */
const tellUntilTaken = async (host: PlayedHost, entries: object[]): Promise<void> => {
  await until(
    () =>
      host.requests(entries as Parameters<PlayedHost['requests']>[0]).then(
        () => true,
        () => false,
      ),
    { timeoutMs: 60_000, what: 'entries to be taken' },
  );
};

/** Kills and starts again; answers by when, on the database's clock, the sender that was killed had its claims. */
const strike = async (victim: Case['victim']): Promise<string> => {
  if (victim !== 'control plane') await sender.end('SIGKILL');
  if (victim !== 'sender') await control.end('SIGKILL');
  if (victim !== 'sender') await startControl();
  if (victim === 'control plane') return '-infinity';
  const [moment] = await sql<{ at: string }>('select clock_timestamp()::text as at');
  await startSender();
  return moment?.at ?? '-infinity';
};

/** Sends deliveries while the victim is killed and started again, and answers what is written down in the end. */
const sendStruck = async ({ victim, delayMs }: Case) => {
  const { host, sessionId } = await openOnHost();
  const entry = (id: number) => {
    const at = id % subscriptions;
    const headers = { 'content-type': 'application/json', 'x-delivery': `${sessionId}.${id}` };
    return deliveryEntry(id, `https://${receivers[at % receivers.length]}/`, {
      ...{ subscription: { id: at }, headers },
    });
  };
  const told = (async () => {
    for (let id = 1; id <= deliveries; id += 5) {
      await tellUntilTaken(
        host,
        Array.from({ length: 5 }, (_, at) => entry(id + at)),
      );
      await pause(chance.between(0, 40));
    }
  })();
  await pause(delayMs);
  const endedAt = await strike(victim);
  await told;
  // What was claimed by a sender that is gone is given up after a minute: by this, now.
  const giveUp = () =>
    sql(
      `update pushes set claimed_at = now() - interval '2 minutes' where claimed_at < '${endedAt}'`,
    );
  await until(
    async () => {
      await giveUp();
      return (await sql('select from pushes limit 1')).length === 0;
    },
    { timeoutMs: 90_000, everyMs: 200, what: 'all pushes to end' },
  );
  const answers = await sql<KeptAnswer>(
    `select * from delivery_answers where session_id = '${sessionId}' order by delivery_id`,
  );
  return { sessionId, answers };
};

const ended = 'sender ended before the answer was known';

describe.runIf(cases.length > 0)('deliveries', () => {
  it.each(cases.map((given, at) => ({ ...given, at })))(
    'are received once or have their reason when the $victim is killed after $delayMs ms ($at)',
    { timeout: timeoutMs },
    async (given) => {
      const { sessionId, answers } = await sendStruck(given);
      expect(answers.map(({ delivery_id }) => delivery_id)).toEqual(
        Array.from({ length: deliveries }, (_, at) => at + 1),
      );
      for (const { delivery_id, status, reason } of answers) {
        const times = received.get(`${sessionId}.${delivery_id}`) ?? 0;
        if (status === 200) expect(times, `delivery ${delivery_id}`).toBe(1);
        else {
          expect([status, reason], `delivery ${delivery_id}`).toEqual([0, ended]);
          expect(times, `delivery ${delivery_id}`).toBeLessThan(2);
        }
      }
      const known = answers.filter(({ status }) => status === 200).length;
      // At most what a sender has under way at once is not known of; a control plane alone loses nothing.
      expect(known).toBeGreaterThan(given.victim === 'control plane' ? deliveries - 13 : 0);
    },
  );
});
