/**
 * Tests webhooks on real processes, from the world's code to a receiver with the vendor's own verifier. The bytes of
 * the body are those that were signed, the answer is in the ledger, and a grader finds it. The same holds for webhooks
 * of a linked world.
 */
import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '#language/contract.ts';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import {
  createWorld,
  listDeliveries,
  listSessionRequests,
  listWebhooks,
  setDestination,
} from '#wire/public-api/operations.ts';
import { listen } from '../../../src/cli/service/listen.ts';
import { type RunningSender, startSender } from '../../../src/sender/program.ts';
import { changed } from '../../support/control/pushes.ts';
import { call, close, open } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';
import { type Received, type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';
import { type Internet, makeInternet } from '../../support/webhooks/receivers.ts';
import { hardBody, signingSchemes, webhooksTable } from '../../support/webhooks/signing-schemes.ts';
import { hookedWorld } from '../../support/worlds/webhook-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let network: Network;

const senderToken = 'token-of-the-senders-of-this-test';

beforeAll(async () => {
  database = await testDatabase();
  network = await startNetwork({
    ...{ databaseUrl: database.url, poolSize: 1, poolMax: 2 },
    controlEnv: { SVC_SENDER_TOKEN: senderToken },
  });
  await network.warm(1);
});

afterAll(async () => {
  await network.stop();
  await database.drop();
});

type Case = {
  scheme: (typeof signingSchemes)['standard-webhooks' | 'github'];
  /** True if the vendor also sends webhooks as forms. */
  sendsForms: boolean;
};

/**
 * One scheme that signs its time and id, and one that signs forms; `signing.test.ts` covers all
 * schemes.
 */
const cases: Case[] = [
  { scheme: signingSchemes['standard-webhooks'], sendsForms: false },
  { scheme: signingSchemes.github, sendsForms: true },
];

const slugOf = ({ scheme }: Case): string => `desk-${scheme.signing}`;

const create = async (given: Case): Promise<void> => {
  const from = encodeTree(hookedWorld([], webhooksTable(given.scheme)));
  await network.client.send(createWorld, { body: { slug: slugOf(given), from } });
};

const hook = (id: number, { scheme: { secret } }: Case, more: Row = {}): Row => ({
  id,
  url: `https://a.example/${id}`,
  secret,
  ...more,
});

const ofWebhooks = (operation: string, parts: Row = {}): Row => ({
  entity: 'svc_requests',
  where: { via: 'webhook', operation, ...(parts.where as Row) },
  ...(parts.count === undefined ? {} : { count: parts.count }),
});

const grader = {
  kind: 'assertions' as const,
  checks: [
    { name: 'sent', ...ofWebhooks('ping', { count: 2 }) },
    { name: 'heard', ...ofWebhooks('ping.answer', { where: { status: 200 }, count: 2 }) },
    { name: 'never unheard', ...ofWebhooks('ping.answer', { where: { status: 0 }, count: 0 }) },
  ],
};

/** Returns the verdicts of the checks, by name. */
const grade = async (sessionId: string): Promise<Record<string, string>> => {
  const { output } = await call(network.client, sessionId, { kind: 'grade' });
  const { checks } = output as { checks: { name: string; verdict: string }[] };
  return Object.fromEntries(checks.map(({ name, verdict }) => [name, verdict]));
};

const listenOnce = async (sessionId: string, receiver: Receiver) => {
  const statuses: number[] = [];
  const end = await listen({
    ...{ client: network.client, sessionId, target: new URL(receiver.url) },
    ...{ replay: true, once: true, signal: AbortSignal.timeout(60_000) },
    onForwarded: ({ forwarded }) => void statuses.push(forwarded.status),
    onAway: (error) => {
      throw error;
    },
  });
  return { statuses, end };
};

it.each(cases.map((each) => [each.scheme.signing, each] as const))(
  'a receiver of the scheme %s accepts forwarded webhooks, and its answer is graded',
  async (_, given) => {
    await create(given);
    const hooks = [
      hook(1, given),
      hook(2, given, given.sendsForms ? { content_type: 'form' } : {}),
    ];
    const task = { seed: { rows: { hooks } }, grader };
    const session = await open(network.client, { slug: slugOf(given), task: task as never });
    expect(session.state, session.error?.message).toBe('READY');
    const receiver = await startReceiver(async (received, _n, response) => {
      const accepts = await Promise.resolve()
        .then(() => given.scheme.accepts(received, given.scheme.secret))
        .catch(() => false);
      response.writeHead(accepts ? 200 : 401).end();
    });
    const sent = await call(network.client, session.id, {
      kind: 'tool',
      name: 'send',
      input: { body: hardBody },
    });
    expect(sent.error).toBeNull();
    expect(await grade(session.id)).toMatchObject({ sent: 'pass', heard: 'fail' });

    // Webhooks are stored for forwarding, although the host also reports them itself.
    const { statuses, end } = await listenOnce(session.id, receiver);
    expect(end).toMatchObject({ kind: 'done', isOver: false });
    const isForm = ({ headers }: Received) => String(headers['content-type']).includes('form');
    expect(statuses).toEqual([200, 200]);
    const json = Buffer.from(JSON.stringify(hardBody));
    for (const received of receiver.received) {
      const text = isForm(received)
        ? String(new URLSearchParams({ payload: json.toString() }))
        : json.toString();
      expect(received.body.equals(Buffer.from(text))).toBe(true);
    }
    const params = { sessionId: session.id };
    const { data } = (await network.client.send(listDeliveries, { params, query: {} })).body;
    expect(data.map(({ answer }) => answer?.status)).toEqual([200, 200]);
    expect(await grade(session.id)).toEqual({
      sent: 'pass',
      heard: 'pass',
      'never unheard': 'pass',
    });

    const listed = (await network.client.send(listWebhooks, { params, query: {} })).body;
    expect(listed.data.map(({ deliveries }) => deliveries)).toEqual([1, 1]);
    expect(JSON.stringify(listed)).not.toContain(given.scheme.secret);
    await receiver.leave();
    await close(network.client, session.id);
  },
);

describe('a session of a world with links', () => {
  const own = 'https://hooks.receiver.dev/own';
  const linked = 'https://hooks.receiver.dev/linked';
  const moved = 'https://staging.receiver.dev/linked';
  /** Both worlds have a subscription with the same key. */
  const hookOf = (url: string, secret: string): Row => ({ id: 1, url, secret, teams: [] });
  const received: { url: string; signature: string; body: string }[] = [];
  let internet: Internet;
  let sender: RunningSender;

  const keep = (request: IncomingMessage, response: ServerResponse): void => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const url = `https://${request.headers.host}${request.url}`;
      const signature = String(request.headers['x-signature']);
      received.push({ url, signature, body: Buffer.concat(pieces).toString() });
      response.writeHead(request.url === '/own' ? 200 : 202).end();
    });
  };

  beforeAll(async () => {
    internet = await makeInternet();
    await internet.serve(['hooks.receiver.dev', 'staging.receiver.dev'], keep);
    const config = {
      ...{ controlUrl: network.internalUrl, token: new Secret(senderToken), atOnce: 16 },
      ...{ metricsListen: [], logLevel: 'silent' as const },
    };
    sender = await startSender(config, internet.network, createLog('sender', 'silent'));
    await network.sql('update projects set webhook_push_since = now()');
  });
  afterAll(async () => {
    await network.sql('update projects set webhook_push_since = null');
    await sender.stop();
    await internet.close();
  });

  const createLinked = async (): Promise<void> => {
    const broken = { id: 2, url: 'mailto:desk@receiver.dev', secret: 'unused', teams: [] };
    const desk = hookedWorld([hookOf(linked, 'of the linked'), broken]);
    await network.client.send(createWorld, { body: { slug: 'desk', from: encodeTree(desk) } });
    const tree = hookedWorld([hookOf(own, 'of its own')]);
    const manifest = tree.find(({ path }) => path === 'svc-env.toml');
    const text = new TextDecoder().decode(manifest?.content);
    const front = changed(tree, {
      'svc-env.toml': `${text}\n[dependencies]\ndesk = "desk@1"\n`,
    });
    await network.client.send(createWorld, { body: { slug: 'front', from: encodeTree(front) } });
  };

  it('sends, lists, pushes and grades the webhooks of both, each by its own subscriptions', async () => {
    const { client } = network;
    await createLinked();
    const set = { url: linked, destination: moved };
    await client.send(setDestination, { params: { slug: 'front' }, body: set });
    const checks = [
      { name: 'sent', ...ofWebhooks('ticket.opened', { count: 2 }) },
      {
        name: 'own heard',
        ...ofWebhooks('ticket.opened.answer', { where: { status: 200 }, count: 1 }),
      },
      {
        name: 'linked heard',
        ...ofWebhooks('ticket.opened.answer', { where: { status: 202 }, count: 1 }),
      },
    ];
    const task = { grader: { kind: 'assertions', checks } };
    const session = await open(client, { slug: 'front', task: task as never });
    expect(session.state, session.error?.message).toBe('READY');
    const params = { sessionId: session.id };
    for (const name of ['open_ticket', 'desk.open_ticket']) {
      const sent = await call(client, session.id, { kind: 'tool', name, input: {} });
      expect(sent.error).toBeNull();
    }

    const answered = await until(
      async () => {
        const { data } = (await client.send(listDeliveries, { params, query: {} })).body;
        return data.length === 2 && data.every(({ answer }) => answer !== null) && data;
      },
      { timeoutMs: 20_000, what: 'both answers' },
    );
    expect(answered).toMatchObject([
      { world: null, url: own, subscription: { id: 1 }, answer: { status: 200, sentTo: null } },
      {
        world: 'desk',
        url: linked,
        subscription: { id: 1 },
        answer: { status: 202, sentTo: moved },
      },
    ]);
    expect(received.map(({ url }) => url).toSorted()).toEqual([own, moved]);
    for (const { url, signature, body: text } of received) {
      const secret = url === own ? 'of its own' : 'of the linked';
      expect(signature).toBe(`sha256=${createHmac('sha256', secret).update(text).digest('hex')}`);
    }

    const { data } = (await client.send(listWebhooks, { params, query: {} })).body;
    expect(data).toMatchObject([
      { world: null, key: { id: 1 }, url: own, deliveries: 1, skips: null },
      { world: 'desk', key: { id: 1 }, url: linked, deliveries: 1, skips: null },
      { world: 'desk', key: { id: 2 }, deliveries: 0, skips: expect.stringContaining('http') },
    ]);
    const skipped = { via: 'webhook-skipped' } as const;
    const ledger = (await client.send(listSessionRequests, { params, query: skipped })).body;
    expect(ledger.data).toMatchObject([
      { operation: 'ticket.opened', request: { world: 'desk', subscription: { id: 2 } } },
    ]);
    expect(await grade(session.id)).toEqual({
      ...{ sent: 'pass', 'own heard': 'pass', 'linked heard': 'pass' },
    });

    const receiver = await startReceiver();
    const { statuses } = await listenOnce(session.id, receiver);
    expect(statuses).toEqual([204, 204]);
    const bodies = (all: readonly { body: unknown }[]) =>
      all.map((one) => String(one.body)).toSorted();
    expect(bodies(receiver.received)).toEqual(bodies(received));
    await receiver.leave();
    await close(client, session.id);
  });
});
