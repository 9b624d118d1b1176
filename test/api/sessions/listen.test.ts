/**
 * Tests `svc worlds session listen`, which forwards deliveries to a local receiver, against a control plane with a
 * simulated host.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { until } from '#runtime/pause.ts';
import { basicAuthorization, type Client, createClient } from '#wire/client.ts';
import { closeSession, listDeliveries, openSession } from '#wire/public-api/operations.ts';
import { type ListenOptions, listen } from '../../../src/cli/service/listen.ts';
import type { ForwardedDelivery } from '../../../src/cli/views/webhooks.ts';
import { createDesk, type Desk } from '../../support/cli/commands-on-control.ts';
import type { StartedControl } from '../../support/control/control.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { startNotesControl } from '../../support/control/own-control.ts';
import { type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';

let control: StartedControl;
let desk: Desk;
let host: PlayedHost;
let sessionId: string;
let serving: Promise<void>;
let interrupt: AbortController;
const receivers: Receiver[] = [];

beforeAll(async () => {
  control = await startNotesControl();
  desk = createDesk(control);
});
afterAll(async () => {
  desk.clear();
  await control.stop();
});

/** Answers the calls of the session as a host does, until the control plane requests the close. */
const serve = async (): Promise<void> => {
  for (let next = await host.calls(); next.close === undefined; ) {
    const { call } = next;
    const output =
      call?.kind === 'webhooks' ? { data: [], meta: { total: 0, lastDelivery: 0 } } : {};
    next = call === undefined ? await host.calls() : await host.answer(call.id, { output }, 5);
  }
  await host.closed();
};

beforeEach(async () => {
  interrupt = new AbortController();
  host = await warmHost(control);
  sessionId = (await control.send(openSession, { body: { slug: 'notes' } })).body.id;
  await host.poll();
  await host.ready();
  serving = serve();
});
afterEach(async () => {
  interrupt.abort();
  await close();
  for (const receiver of receivers.splice(0)) await receiver.leave().catch(() => undefined);
  await control.sql('delete from requests');
  await clearPool(control);
});

const close = async (): Promise<void> => {
  await control.send(closeSession, { params: { sessionId }, body: {} });
  await serving;
};

const receive = async (...given: Parameters<typeof startReceiver>): Promise<Receiver> => {
  const receiver = await startReceiver(...given);
  receivers.push(receiver);
  return receiver;
};

const entry = (id: number, request: Record<string, unknown> = {}) => ({
  id,
  at: new Date(Date.UTC(2026, 0, 1) + id * 1_000).toISOString(),
  via: 'webhook',
  operation: 'note.made',
  method: 'POST',
  path: null,
  status: null,
  request: {
    url: 'https://a.example/hook',
    subscription: { id: 1 },
    generation: 0,
    headers: { 'content-type': 'application/json', 'x-signature': `sha256=${id}` },
    body: { id, title: 'Ünï\u2028' },
    scope: null,
    ...request,
  },
  response: null,
  duration_ms: 0,
  changes: {},
  rows: [],
  call_id: null,
});

const clientOf = (): Client =>
  createClient({
    baseUrl: `${control.running.addresses.public[0]}/api/public`,
    authorization: basicAuthorization(control.publicKey, control.secretKey),
  });

/** Starts to listen; `done` collects the forwarded deliveries. */
const begin = (receiver: Receiver, parts: Partial<ListenOptions> = {}) => {
  const done: ForwardedDelivery[] = [];
  const aways: string[] = [];
  const end = listen({
    ...{ client: clientOf(), sessionId, target: new URL(receiver.url) },
    ...{ replay: false, once: false, signal: interrupt.signal },
    onForwarded: (one) => void done.push(one),
    onAway: ({ message }) => void aways.push(message),
    ...parts,
  });
  const forwarded = (count: number) =>
    until(() => done.length >= count, { timeoutMs: 30_000, what: `${count} forwarded` });
  return { done, aways, end, forwarded };
};

const answers = async () => {
  const { body } = await control.read(listDeliveries, { params: { sessionId }, query: {} });
  return body.data.map(({ answer }) => answer?.status ?? null);
};

describe('listening to a session', () => {
  it('forwards the exact text and headers, in order, and records each answer', async () => {
    const receiver = await receive(
      (_one, n, response) => void response.writeHead(200 + n).end('ok'),
    );
    const { end, done, forwarded } = begin(receiver, { replay: true });
    await host.requests([entry(1), entry(2)]);
    await host.requests([entry(3)]);
    await forwarded(3);
    expect(receiver.received.map(({ body }) => body.toString())).toEqual(
      [1, 2, 3].map((id) => JSON.stringify(entry(id).request.body)),
    );
    expect(receiver.received[1]).toMatchObject({
      path: '/hooks',
      headers: { 'content-type': 'application/json', 'x-signature': 'sha256=2' },
    });
    expect(await answers()).toEqual([200, 201, 202]);
    expect(done.map(({ kept }) => kept)).toEqual(
      [200, 201, 202].map((status) => ({ status, isOwn: true })),
    );
    interrupt.abort();
    expect(await end).toEqual({ kind: 'interrupted' });
  });

  it('begins with new deliveries, except with replay', async () => {
    await host.requests([entry(1), entry(2)]);
    const receiver = await receive();
    let isAsked = false;
    const client = clientOf();
    const asking: Client = {
      ...client,
      send: async (shape, input) => {
        const answer = await client.send(shape, input);
        isAsked = true;
        return answer;
      },
    };
    const { forwarded, done } = begin(receiver, { client: asking });
    await until(() => isAsked, { timeoutMs: 10_000, what: 'the first look' });
    await host.requests([entry(3)]);
    await forwarded(1);
    expect(done.map(({ delivery }) => delivery.sequence)).toEqual([3]);
    expect(await answers()).toEqual([null, null, 204]);
  });

  it('keeps the order within a subscription, and subscriptions do not wait for each other', async () => {
    const slow = Promise.withResolvers<void>();
    const receiver = await receive(async ({ body }, _n, response) => {
      if (JSON.parse(body.toString()).id === 1) await slow.promise;
      response.writeHead(204).end();
    });
    const { done, forwarded } = begin(receiver, { replay: true });
    const other = { subscription: { id: 2 } };
    await host.requests([entry(1), entry(2), entry(3, other), entry(4, other), entry(5)]);
    await forwarded(2);
    expect(done.map(({ delivery }) => delivery.sequence)).toEqual([3, 4]);
    slow.resolve();
    await forwarded(5);
    expect(done.slice(2).map(({ delivery }) => delivery.sequence)).toEqual([1, 2, 5]);
  });

  it('records status 0 and the reason while the receiver is down, and continues when the receiver is back', async () => {
    const receiver = await receive();
    const { done, forwarded } = begin(receiver, { replay: true });
    await host.requests([entry(1)]);
    await forwarded(1);
    await receiver.leave();
    await host.requests([entry(2)]);
    await forwarded(2);
    await receiver.comeBack();
    await host.requests([entry(3)]);
    await forwarded(3);
    expect(done.map(({ forwarded: { status, reason } }) => [status, reason])).toEqual([
      [204, null],
      [0, 'nothing listens there: the connection was refused'],
      [204, null],
    ]);
    expect(await answers()).toEqual([204, 0, 204]);
    expect(receiver.received.map(({ headers }) => headers['x-signature'])).toEqual([
      'sha256=1',
      'sha256=3',
    ]);
  });

  it('limits the time of a receiver, and records redirects, hangups and endless answers as they are', async () => {
    const receiver = await receive((_one, n, response) => {
      if (n === 0) response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
      if (n === 1) response.destroy();
      if (n === 2) {
        response.writeHead(500);
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      }
      // The last delivery gets no answer.
    });
    const { done, forwarded } = begin(receiver, { replay: true, receiverMs: 1_500 });
    await host.requests([entry(1), entry(2), entry(3), entry(4)]);
    await forwarded(4);
    expect(done.map(({ forwarded: { status, reason } }) => [status, reason])).toEqual([
      [307, null],
      [0, 'the connection was closed before an answer arrived'],
      [500, null],
      [0, 'no answer within 1.5 s'],
    ]);
  });

  it('keeps the first answer if two listeners forward the same delivery', async () => {
    const [one, two] = [
      await receive((_one, _n, response) => void response.writeHead(201).end()),
      await receive((_one, _n, response) => void response.writeHead(500).end()),
    ];
    const both = [begin(one, { replay: true }), begin(two, { replay: true })];
    await host.requests([entry(1), entry(2), entry(3)]);
    await Promise.all(both.map(({ forwarded }) => forwarded(3)));
    expect([one.received.length, two.received.length]).toEqual([3, 3]);
    const kept = await answers();
    for (const [index, status] of kept.entries()) {
      const result = both.map(({ done }) =>
        done.find(({ delivery }) => delivery.sequence === index + 1),
      );
      expect(result.map((done) => done?.kept?.status)).toEqual([status, status]);
      expect(result.filter((done) => done?.kept?.isOwn)).toHaveLength(1);
    }
  });

  it('distinguishes deliveries before and after a reset, although their header ids repeat', async () => {
    const receiver = await receive();
    const { done, forwarded } = begin(receiver, { replay: true });
    const headers = { 'content-type': 'application/json', 'x-delivery': 'the-same' };
    await host.requests([entry(1, { headers })]);
    await forwarded(1);
    const reset = { ...entry(2), via: 'session', operation: 'reset', request: {} };
    await host.requests([reset, entry(3, { headers, generation: 1 })]);
    await forwarded(2);
    expect(done.map(({ delivery: { sequence, generation } }) => [sequence, generation])).toEqual([
      [1, 0],
      [3, 1],
    ]);
    expect(done.map(({ kept }) => kept?.isOwn)).toEqual([true, true]);
  });

  it('retries while the service is unavailable, and skips no delivery', async () => {
    const receiver = await receive();
    const client = clientOf();
    let away = 3;
    const failing: Client = {
      ...client,
      send: async (shape, input) => {
        away -= 1;
        if (away >= 0) throw new AppError('unavailable', 'gone');
        return client.send(shape, input);
      },
    };
    await host.requests([entry(1)]);
    const { aways, forwarded } = begin(receiver, { client: failing, replay: true });
    await forwarded(1);
    expect(aways).toEqual(['gone']);
    expect(receiver.received).toHaveLength(1);
  });

  it('ends with the session, once all its deliveries are forwarded', async () => {
    const receiver = await receive();
    const { end, done } = begin(receiver, { replay: true });
    await host.requests([entry(1), entry(2)]);
    await close();
    expect(await end).toEqual({ kind: 'over', state: 'CLOSED' });
    expect(done).toHaveLength(2);
  });
});

describe('svc worlds session listen', () => {
  const words = (receiver: Receiver, more: string) =>
    `worlds session listen ${sessionId} --forward-to ${receiver.url} ${more}`.trim();

  it('forwards existing deliveries with --once, and prints a line for each as text or JSON', async () => {
    await host.requests([entry(1), entry(2)]);
    const receiver = await receive();
    const result = await desk.svc(words(receiver, '--once'));
    expect(result.status).toBe(0);
    expect(result.out).toMatch(
      /^00:00:01\.000 {2}#1 {2}note\.made {2}https:\/\/a\.example\/hook {2}204 in .*\n.*#2.*\n$/,
    );
    expect(result.err).toMatch(/^forwarding what .*\n2 deliveries forwarded\n$/);
    const again = await desk.svc(words(receiver, '--replay --once --json'));
    expect(
      again.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      {
        ...{ sequence: 1, generation: 0, event: 'note.made', url: 'https://a.example/hook' },
        ...{ subscription: { id: 1 }, world: null, status: 204, reason: null },
        kept: { status: 204, isOwn: false },
      },
      { sequence: 2 },
    ]);
    expect(receiver.received).toHaveLength(4);
  });

  it('forwards deliveries with --interval-ms, and exits with 1 when the session ends', async () => {
    const receiver = await receive();
    const running = desk.svc(words(receiver, '--replay --interval-ms 100'));
    await host.requests([entry(1)]);
    await receiver.count(1);
    await close();
    const { status, err } = await running;
    expect(status).toBe(1);
    expect(err).toMatch(/ses-\w+ has ended \(CLOSED\); 1 delivery forwarded\n$/);
  });

  it('reports that a session is over after it forwards the stored deliveries', async () => {
    await host.requests([entry(1)]);
    await close();
    const receiver = await receive();
    for (const more of ['', '--replay', '--once']) {
      const { status, out } = await desk.svc(words(receiver, more));
      expect([status, out.split('\n').length - 1]).toEqual([1, more === '' ? 0 : 1]);
    }
  });

  it('is refused for invalid options, addresses and sessions', async () => {
    const receiver = await receive();
    const cases: [string, RegExp][] = [
      [words(receiver, '--interval-ms 99'), /whole number from 100 to 3600000/],
      [words(receiver, '--interval-ms 3600001'), /whole number from 100 to 3600000/],
      ['worlds session listen ses-1 --forward-to ftp://a.example', /not an address such as/],
      [
        'worlds session listen ses-1 --forward-to http://me:pw@a.example',
        /must not contain a name and password/,
      ],
      ['worlds session listen ses-1', /--forward-to/],
      ['worlds session listen ses-none --forward-to http://127.0.0.1:1', /there is no session/],
    ];
    for (const [line, message] of cases) {
      const { status, err } = await desk.svc(line);
      expect(status, line).toBe(1);
      expect(err).toMatch(message);
    }
  });
});
