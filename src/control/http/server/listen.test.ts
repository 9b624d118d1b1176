import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { type Listening, listen, type RequestTimes } from './listen.ts';

const loopback = { host: '127.0.0.1', port: 0 };
const open: { app: FastifyInstance; listening?: Listening }[] = [];

const serve = async (addresses = [loopback], times?: RequestTimes) => {
  const app = fastify();
  const begun = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  app.get('/', async () => 'at once');
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
  app.post('/', async () => 'whole');
  app.get('/slow', async () => {
    begun.resolve();
    await finish.promise;
    return 'finished';
  });
  const entry: (typeof open)[number] = { app };
  open.push(entry);
  const listening = await listen(app, addresses, times);
  entry.listening = listening;
  return { listening, begun: begun.promise, finish: () => finish.resolve() };
};

afterEach(async () => {
  for (const { app, listening } of open.splice(0)) {
    await listening?.stop(0);
    await app.close();
  }
});

const portOf = (address: string | undefined) => Number(new URL(address ?? '').port);

describe('listen', () => {
  it('serves one application on every address', async () => {
    const { listening } = await serve([loopback, loopback, { host: '::1', port: 0 }]);
    expect(listening.addresses).toHaveLength(3);
    for (const address of listening.addresses) {
      expect(await (await fetch(address)).text()).toBe('at once');
    }
  });

  it('binds no address if one is taken, and names the taken address', async () => {
    const first = await serve();
    const taken = portOf(first.listening.addresses[0]);
    const second = await serve();
    const freed = portOf(second.listening.addresses[0]);
    await second.listening.stop(0);
    const wanted = [
      { host: '127.0.0.1', port: freed },
      { host: '127.0.0.1', port: taken },
    ];
    await expect(serve(wanted)).rejects.toThrow(`cannot listen on 127.0.0.1:${taken}`);
    await expect(fetch(`http://127.0.0.1:${freed}`)).rejects.toThrow();
  });

  it('finishes requests under way when it stops, and then closes their connections', async () => {
    const { listening, begun, finish } = await serve();
    const address = listening.addresses[0] ?? '';
    const slow = fetch(`${address}/slow`);
    await begun;
    const stopped = listening.stop(5_000);
    await expect(fetch(address)).rejects.toThrow();
    finish();
    const answer = await slow;
    expect(await answer.text()).toBe('finished');
    await stopped;
  });

  it('continues to serve while it drains, and closes each connection after its next answer', async () => {
    const { listening, begun, finish } = await serve();
    const address = listening.addresses[0] ?? '';
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (path = '') => {
      const request = get(`${address}${path}`, { agent });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      await response.toArray();
      return [request.reusedSocket, response.statusCode, response.headers.connection];
    };
    expect(await ask()).toEqual([false, 200, 'keep-alive']);
    const slow = ask('/slow');
    await begun;
    listening.drain();
    finish();
    expect(await slow).toEqual([true, 200, 'close']);
    expect(await ask()).toEqual([false, 200, 'close']);
    expect(await ask('/nowhere')).toEqual([false, 404, 'close']);
    agent.destroy();
  });

  it('answers 408 to a request that does not arrive completely in time', async () => {
    const { listening } = await serve([loopback], { requestMs: 50, everyMs: 10 });
    const socket = connect(portOf(listening.addresses[0]), '127.0.0.1');
    const heard = socket.setEncoding('utf8').toArray();
    socket.write('POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\n{');
    expect((await heard).join('')).toMatch(/^HTTP\/1\.1 408 .*"error":"invalid"\}$/s);
  });

  it.each([
    ['400 Bad Request', 'no request at all\r\n\r\n'],
    [
      '431 Request Header Fields Too Large',
      `GET /?x=${'x'.repeat(20_000)} HTTP/1.1\r\nHost: test\r\n\r\n`,
    ],
  ])('answers %s with an error body, and closes the connection', async (status, sent) => {
    const { listening } = await serve();
    const socket = connect(portOf(listening.addresses[0]), '127.0.0.1');
    const heard = socket.setEncoding('utf8').toArray();
    socket.write(sent);
    const [head = '', body = ''] = (await heard).join('').split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`));
    expect(JSON.parse(body)).toEqual({ message: expect.any(String), error: 'invalid' });
  });

  it('cuts off requests that are not finished by the deadline', async () => {
    const { listening, begun } = await serve();
    const slow = fetch(`${listening.addresses[0]}/slow`).catch(() => 'cut off');
    await begun;
    await listening.stop(20);
    expect(await slow).toBe('cut off');
  });
});
