/**
 * Tests the webhook sender with a control plane and receivers: the requests that arrive, their order, and the recorded
 * answers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { openSession } from '#wire/public-api/operations.ts';
import { type RunningSender, startSender } from '../../../src/sender/program.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { setPush } from '../../support/control/settings.ts';
import { clearPushes, deliveryEntry, readAnswers, tellOf } from '../../support/webhooks/pushing.ts';
import { type Internet, makeInternet } from '../../support/webhooks/receivers.ts';

type Received = { host: string; headers: IncomingMessage['headers']; body: string };

let control: OwnControl;
let internet: Internet;
let sender: RunningSender;
let host: PlayedHost;
let received: Received[] = [];
/** Answer of the receivers to a request; a function that does not end the response keeps the sender waiting. */
let answer: (got: Received, response: ServerResponse) => void;
const held: ServerResponse[] = [];

const hooks = 'hooks.receiver.dev';
const slow = 'slow.receiver.dev';
const url = `https://${hooks}/in`;

const collect = (request: IncomingMessage, response: ServerResponse): void => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces).toString('utf8');
    const got = { host: request.headers.host ?? '', headers: request.headers, body };
    received.push(got);
    answer(got, response);
  });
};

const start = (): Promise<RunningSender> => {
  const [internal = ''] = control.running.addresses.internal;
  const token = control.config.senderToken;
  if (token === null) throw new Error('the control plane has no sender token');
  const config = {
    ...{ controlUrl: internal, token, atOnce: 64, metricsListen: [] },
    logLevel: 'silent' as const,
  };
  return startSender(config, internet.network, createLog('sender', 'silent'));
};

beforeAll(async () => {
  control = await startNotesControl();
  internet = await makeInternet();
  await internet.serve([hooks], collect, '93.184.216.34');
  await internet.serve([slow], collect, '93.184.216.35');
  sender = await start();
});
afterAll(async () => {
  await sender.stop();
  await internet.close();
  await control.stop();
});

beforeEach(async () => {
  received = [];
  answer = (_, response) => void response.writeHead(204).end();
  await setPush(control, true);
  host = await warmHost(control);
  await control.send(openSession, { body: { slug: 'notes' } });
  await host.poll();
  await host.ready();
});
afterEach(async () => {
  for (const response of held.splice(0)) response.end();
  await until(async () => (await control.sql('select from pushes')).length === 0, {
    timeoutMs: 15_000,
    what: 'pushes to end',
  });
  await clearPushes(control);
  await control.sql('delete from requests');
  await clearPool(control);
});

const answers = (count: number) =>
  until(
    async () => {
      const kept = await readAnswers(control);
      return kept.length === count && kept;
    },
    { timeoutMs: 15_000, what: `${count} answers` },
  );

describe('a delivery by the sender', () => {
  it('arrives byte for byte as it was signed, and its answer is recorded', async () => {
    const body = { text: 'grüße "…" \u2028', n: 1.5, nested: [null, true, {}] };
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': 'sha256=ab' };
    await tellOf(host, [deliveryEntry(1, url, { body, headers })]);
    expect(await answers(1)).toMatchObject([{ delivery_id: 1, status: 204, sender: 'push' }]);
    expect(received).toEqual([
      {
        host: hooks,
        body: JSON.stringify(body),
        headers: expect.objectContaining({ ...headers, 'user-agent': 'svc-webhooks/1' }),
      },
    ]);
  });

  it('arrives once, after the earlier deliveries of the same subscription', async () => {
    answer = (_, response) => void setImmediate(() => response.writeHead(200).end());
    await tellOf(
      host,
      Array.from({ length: 30 }, (_, at) =>
        deliveryEntry(at + 1, url, { subscription: { id: at % 2 } }),
      ),
    );
    await answers(30);
    const bodies = received.map(({ body }) => JSON.parse(body).id as number);
    for (const parity of [0, 1]) {
      const line = bodies.filter((id) => id % 2 === parity);
      expect(line).toEqual(line.toSorted((one, two) => one - two));
      expect(line).toHaveLength(15);
    }
  });

  it('to a slow receiver does not delay deliveries to other receivers', async () => {
    answer = (got, response) => {
      if (got.host === slow) held.push(response);
      else response.writeHead(200).end();
    };
    const toSlow = Array.from({ length: 30 }, (_, at) =>
      deliveryEntry(at + 1, `https://${slow}/`, { subscription: { id: at } }),
    );
    await tellOf(host, toSlow);
    await until(() => held.length === 8, { timeoutMs: 30_000, what: 'the slow one to be full' });
    await tellOf(
      host,
      Array.from({ length: 20 }, (_, at) => deliveryEntry(at + 31, url)),
    );
    const kept = await answers(20);
    expect(kept.map(({ delivery_id }) => delivery_id)).toEqual(
      Array.from({ length: 20 }, (_, at) => at + 31),
    );
    answer = (_, response) => void response.writeHead(200).end();
    for (const response of held.splice(0)) response.writeHead(200).end();
    await answers(50);
  });

  it.each([
    ['http://hooks.receiver.dev/', 'only https://'],
    ['https://127.0.0.1/', 'loopback'],
    ['https://nowhere.receiver.dev/', 'no address'],
    ['https://[fd00::1]/', 'unique local'],
  ])('to %s is not sent, and the reason is recorded', async (to, says) => {
    const dialled = internet.dialled.length;
    await tellOf(host, [deliveryEntry(1, to)]);
    expect(await answers(1)).toMatchObject([{ status: 0, reason: expect.stringContaining(says) }]);
    expect(internet.dialled.length).toBe(dialled);
  });

  it('is not repeated after a redirect or an error', async () => {
    answer = (got, response) =>
      void (got.body === '{"id":1}'
        ? response.writeHead(302, { location: 'https://10.0.0.1/' }).end()
        : response.writeHead(500).end());
    await tellOf(host, [deliveryEntry(1, url), deliveryEntry(2, url)]);
    expect(await answers(2)).toMatchObject([
      { status: 302, reason: 'redirects are not followed' },
      { status: 500, reason: null },
    ]);
    expect(received).toHaveLength(2);
  });
});

describe('a stopping sender', () => {
  it('finishes the deliveries that it has begun, and another sender sends the rest', async () => {
    answer = (_, response) => void held.push(response);
    await tellOf(host, [deliveryEntry(1, url), deliveryEntry(2, url)]);
    await until(() => held.length === 1, { timeoutMs: 30_000, what: 'the first to arrive' });
    const stopped = sender.stop();
    held.splice(0)[0]?.writeHead(201).end();
    await stopped;
    expect(await readAnswers(control)).toMatchObject([{ delivery_id: 1, status: 201 }]);
    answer = (_, response) => void response.writeHead(202).end();
    sender = await start();
    expect(await answers(2)).toMatchObject([{ status: 201 }, { status: 202 }]);
    expect(received.map(({ body }) => body)).toEqual(['{"id":1}', '{"id":2}']);
  });
});
