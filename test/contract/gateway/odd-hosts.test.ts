/**
 * Hosts run user code, so they may send anything. Whatever they send fails at most a request of their own session: the
 * gateway keeps running, and other sessions are not affected.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { until } from '#runtime/pause.ts';
import {
  ask,
  headLines,
  openRaw,
  sendRaw,
  startTestGateway,
} from '../../support/gateway/gateway.ts';

const gateway = await startTestGateway({ limits: { answerMs: 400, clientMs: 3_000 } });
const servers: Server[] = [];

afterAll(async () => {
  await gateway.stop();
  for (const server of servers) server.close();
});

/** Adds a session by a raw server: `onRequest` gets each connection of the host once its first bytes have arrived. */
const serveRaw = async (onRequest: (socket: Socket) => void): Promise<string> => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => onRequest(socket));
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sessionId = newId('ses');
  gateway.control.change(sessionId, {
    sessionId,
    surfaces: { api: `http://127.0.0.1:${port}` },
  });
  return sessionId;
};

/** Adds a session whose host answers with these bytes and nothing else. */
const serveWords = (words: string): Promise<string> =>
  serveRaw((socket) => socket.end(words, 'latin1'));

const fine = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine';
const get = (sessionId: string) => ask(gateway.port, { host: gateway.hostOf(sessionId) });

describe('a client gets 502 when its host answers with', () => {
  it.each([
    ['a status that is none', 'HTTP/1.1 099 Odd\r\nContent-Length: 4\r\n\r\nfine'],
    ['a status of nothing', 'HTTP/1.1 000 Odd\r\nContent-Length: 4\r\n\r\nfine'],
    ['words with a control sign', 'HTTP/1.1 200 O\x01K\r\nContent-Length: 4\r\n\r\nfine'],
    [
      'a header with a control sign',
      'HTTP/1.1 200 OK\r\nX-A: \x01\r\nContent-Length: 4\r\n\r\nfine',
    ],
    [
      'a change of protocol that no client requested',
      'HTTP/1.1 101 Switching Protocols\r\n\r\nhello',
    ],
    [
      'one with a name that no client requested',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhello',
    ],
    ['a head over the limit', `HTTP/1.1 200 OK\r\nX-A: ${'x'.repeat(40_000)}\r\n\r\nfine`],
    ['no HTTP', 'SSH-2.0-x\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ])('%s', async (_, words) => {
    const answer = await get(await serveWords(words));
    expect(answer).toMatchObject({ status: 502, code: 'host_broke_off' });
  });
});

describe('an answer of a host is passed on when it sends', () => {
  it.each([
    ['hints that cannot be read', `HTTP/1.1 103 Early Hints\r\nLink: garbage\r\n\r\n${fine}`],
    ['hints of nothing', `HTTP/1.1 103 Early Hints\r\nLink: \r\n\r\n${fine}`],
    ['information that is unknown', `HTTP/1.1 199 Odd\r\n\r\n${fine}`],
    ['an answer of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nfine'],
  ])('%s', async (_, words) => {
    expect(await get(await serveWords(words))).toMatchObject({ status: 200, body: 'fine' });
  });

  it('a head as long as the limit for requests allows', async () => {
    const id = await serveWords(`HTTP/1.1 200 OK\r\nX-A: ${'x'.repeat(20_000)}\r\n\r\nfine`);
    const head = headLines('GET / HTTP/1.1', `Host: ${gateway.hostOf(id)}`, 'Connection: close');
    expect(await sendRaw(gateway.port, head)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('hints, which an HTTP/1.0 client does not get', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n';
    const id = await serveWords(`${hints}${fine}`);
    const head = `GET / HTTP/1.0\r\nHost: ${gateway.hostOf(id)}\r\n\r\n`;
    const answer = await sendRaw(gateway.port, head);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).not.toContain(' 103 ');
  });
});

describe('a host that answers before it has received the whole request', () => {
  it('has its answer passed on and is not sent the rest', async () => {
    let received = 0;
    const left = Promise.withResolvers<void>();
    const id = await serveRaw((socket) => {
      socket.write('HTTP/1.1 401 Unauthorized\r\nContent-Length: 6\r\n\r\ndenied');
      socket.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
      socket.once('close', () => left.resolve());
    });
    const { socket, text } = await openRaw(gateway.port);
    const length = 8 * 2 ** 20;
    const host = `Host: ${gateway.hostOf(id)}`;
    socket.write(headLines('POST / HTTP/1.1', host, `Content-Length: ${length}`));
    await until(() => text().endsWith('denied'), { timeoutMs: 30_000, what: 'the answer' });
    socket.write(Buffer.alloc(length));
    // The connection is not used for another request.
    await left.promise;
    expect(received).toBeLessThan(2 ** 20);
    expect(text()).toMatch(/^HTTP\/1\.1 401 .*connection: close\r\n.*denied$/is);
    socket.destroy();
  });
});

describe('a host does not time out', () => {
  /** Waits until a request has run into the time limit of a host; by then every earlier request has reached its host. */
  const timeOfHost = async (): Promise<void> => {
    const silent = await gateway.serve(() => undefined);
    expect(await get(silent)).toMatchObject({ status: 504 });
  };

  it('while a client is slow to send its body', async () => {
    const id = await gateway.serve((request, response) => {
      request.on('end', () => response.end('fine')).resume();
    });
    const { socket, text } = await openRaw(gateway.port);
    const host = `Host: ${gateway.hostOf(id)}`;
    socket.write(`${headLines('POST / HTTP/1.1', host, 'Content-Length: 2')}a`);
    await timeOfHost();
    await timeOfHost();
    socket.write('b');
    await until(() => text().endsWith('fine'), { timeoutMs: 30_000, what: 'the answer' });
    expect(text()).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  it('while a client is slow to read its answer', async () => {
    const body = Buffer.alloc(64 * 2 ** 20);
    const id = await gateway.serve((_, response) => response.end(body));
    const { socket } = await openRaw(gateway.port);
    let read = 0;
    socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    socket.pause();
    socket.write(headLines('GET / HTTP/1.1', `Host: ${gateway.hostOf(id)}`));
    await timeOfHost();
    await timeOfHost();
    socket.resume();
    await until(() => read > body.length, { timeoutMs: 10_000, what: 'the whole answer' });
    socket.destroy();
  });
});
