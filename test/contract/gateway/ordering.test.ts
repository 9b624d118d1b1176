/** Pipelined requests on one connection are answered in order and completely. */
import { createServer, type RequestListener } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { until } from '#runtime/pause.ts';
import { headLines, openRaw, sendRaw, startTestGateway } from '../../support/gateway/gateway.ts';

const gateway = await startTestGateway({ limits: { perSession: 3 } });

afterAll(() => gateway.stop());

const upgrade = [
  ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

const hear = (raw: { text(): string }, what: string): Promise<unknown> =>
  until(() => raw.text().includes(what), { timeoutMs: 30_000, what: `${what} in ${raw.text()}` });

describe('behind a request without an answer yet', () => {
  const serveHeld = async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const server = createServer(async (_, response) => {
      asked.resolve();
      await answer.promise;
      response.end('first');
    });
    new WebSocketServer({ server }).on('connection', (socket) => socket.send('second'));
    const id = await gateway.serveBy(server);
    return {
      id,
      host: `Host: ${gateway.hostOf(id)}`,
      asked: asked.promise,
      answer: answer.resolve,
    };
  };

  it.each([
    [
      'a change of protocol',
      (host: string) => headLines('GET /2 HTTP/1.1', host, ...upgrade),
      'second',
    ],
    ['a tunnel', () => headLines('CONNECT a:1 HTTP/1.1', 'Host: a:1'), 'CONNECT is not supported'],
    ['what is no request', () => 'BAD\r\n\r\n', '"bad_request"'],
    [
      'a body that cannot be read',
      (host: string) =>
        `${headLines('POST /2 HTTP/1.1', host, 'Transfer-Encoding: chunked')}zz\r\n`,
      '"bad_request"',
    ],
  ])('%s waits', async (_, second, said) => {
    const { host, asked, answer } = await serveHeld();
    const raw = await openRaw(gateway.port);
    raw.socket.write(`${headLines('GET /1 HTTP/1.1', host)}${second(host)}`);
    await asked;
    // After one more round trip, anything that the gateway would have sent at once has arrived.
    const other = await openRaw(gateway.port);
    other.socket.write(headLines('GET /health HTTP/1.1', 'Host: x'));
    await hear(other, '"ok"');
    expect(raw.text()).toBe('');
    answer();
    await hear(raw, said);
    expect(raw.text()).toMatch(/^HTTP\/1\.1 200 .*first.*HTTP\/1\.1 (?:101|4\d\d) /s);
    for (const { socket } of [raw, other]) socket.destroy();
  });
});

describe('a client connection', () => {
  const serveSlowly = async (count: number) => {
    const id = await gateway.serve((_, response) => void setImmediate(() => response.end('x')));
    return headLines('GET / HTTP/1.1', `Host: ${gateway.hostOf(id)}`).repeat(count);
  };

  it('answers four pipelined requests', async () => {
    const raw = await openRaw(gateway.port);
    raw.socket.write(await serveSlowly(4));
    const hasAll = () => raw.text().split('HTTP/1.1 200 ').length === 5;
    await until(hasAll, { timeoutMs: 30_000, what: 'four answers' });
    raw.socket.destroy();
  });

  it('is closed when five requests wait for an answer', async () => {
    expect(await sendRaw(gateway.port, await serveSlowly(5))).toBe('');
  });
});

describe('an upgrade that the host refuses', () => {
  const dial = async (id: string) => {
    const raw = await openRaw(gateway.port);
    raw.socket.write(headLines('GET / HTTP/1.1', `Host: ${gateway.hostOf(id)}`, ...upgrade));
    return raw;
  };
  const refuseWith = (listener: RequestListener): Promise<string> => gateway.serve(listener);

  it('gets the whole answer of the host, whatever its length', async () => {
    const body = 'x'.repeat(8 * 2 ** 20);
    const raw = await dial(await refuseWith((_, response) => response.writeHead(404).end(body)));
    await until(() => raw.text().length > body.length, { timeoutMs: 30_000, what: 'the body' });
    expect(raw.text()).toMatch(/^HTTP\/1\.1 404 /);
    raw.socket.destroy();
  });

  it('frees its place in the limit for the next request', async () => {
    const id = await refuseWith((_, response) => response.writeHead(404).end('no'));
    for (let i = 0; i < 6; i += 1) {
      const raw = await dial(id);
      await hear(raw, '\r\n\r\n');
      expect(raw.text()).toMatch(/^HTTP\/1\.1 404 /);
      raw.socket.destroy();
    }
  });
});
