/** Tests the client against servers that answer correctly, incorrectly and not at all. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from './client.ts';
import { exchange } from './exchange.ts';
import { answerCall, getBlob, pollCalls } from './host-api/operations.ts';
import { closeSession } from './public-api/operations.ts';

const params = { sessionId: 'ses-1' };
const query = { generation: 1, hold: 0 };
const digest = `sha256:${'0'.repeat(64)}` as const;

let server: Server;

const clientOf = async (listener: RequestListener) => {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return createClient({ baseUrl: `http://127.0.0.1:${port}/api/`, authorization: 'Bearer x' });
};

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

describe('the client', () => {
  it('sends path, query, headers and body, and reads JSON', async () => {
    const seen: unknown[] = [];
    const client = await clientOf(async (request, response) => {
      const chunks = await request.toArray();
      const { authorization, 'content-type': type, 'content-length': length } = request.headers;
      const text = Buffer.concat(chunks).toString();
      seen.push([request.method, request.url, authorization, type, length, text.length]);
      response.setHeader('content-type', 'application/json').end('{"close":null}');
    });
    const body = { generation: 1, hold: 0, answer: { output: 'ä', changes: {} } };
    const answer = await client.send(answerCall, {
      params: { sessionId: 'ses/1', callId: 'call-1' },
      body,
    });
    expect(answer).toEqual({ status: 200, body: { close: null } });
    const text = JSON.stringify(body);
    expect(seen).toEqual([
      [
        'POST',
        '/api/world-sessions/ses%2F1/calls/call-1/answer',
        'Bearer x',
        'application/json',
        String(Buffer.byteLength(text)),
        text.length,
      ],
    ]);
  });

  it('sends the body of a DELETE, whatever request follows it', async () => {
    const seen: string[] = [];
    const client = await clientOf(async (request, response) => {
      seen.push(`${request.method} ${Buffer.concat(await request.toArray())}`);
      response.setHeader('content-type', 'application/json').end('{}');
    });
    const close = { params, query: {}, body: { keepWarm: true } };
    await client.send(closeSession, close);
    await client.send(closeSession, close);
    expect(seen).toEqual(['DELETE {"keepWarm":true}', 'DELETE {"keepWarm":true}']);
  });

  it('sends the target of an address unchanged, in whatever form the address is written and whether its origin is cached or not', async () => {
    const seen: unknown[] = [];
    await clientOf((request, response) => {
      seen.push([request.headers.host, request.url]);
      response.end();
    });
    const { port } = server.address() as AddressInfo;
    const at = `http://127.0.0.1:${port}`;
    const written = [
      '/a/b-c_d?x=1&y=-',
      '/a//b/?',
      '/a/../b',
      '/a/%2e%2E/b',
      '',
      '?x',
      '/ä b?ö#z',
      '/a?b?c',
    ];
    const addresses = [...written, ...written].map((rest) => `${at}${rest}`);
    for (const address of addresses) await exchange(address, { method: 'GET', headers: {} });
    const urls = addresses.map((address) => new URL(address));
    expect(seen).toEqual(urls.map(({ host, pathname, search }) => [host, pathname + search]));
  });

  it('accepts an answer to which a newer server has added members', async () => {
    const client = await clientOf((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"close":null,"since":{"another":"release"}}');
    });
    expect((await client.send(pollCalls, { params, query })).body).toMatchObject({ close: null });
  });

  it('refuses a body that cannot be written, and sends no request', async () => {
    const asked: unknown[] = [];
    const client = await clientOf((request, response) => {
      asked.push(request.url);
      response.end('{}');
    });
    const deep = JSON.parse(`${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`);
    const sent = client.send(closeSession, { params, query: {}, body: { keepWarm: deep } });
    await expect(sent).rejects.toMatchObject({ code: 'invalid' });
    expect(asked).toEqual([]);
  });

  it('reads bytes', async () => {
    const client = await clientOf((_, response) => {
      response.setHeader('content-type', 'application/octet-stream').end(Buffer.from([0, 255, 7]));
    });
    const { body } = await client.send(getBlob, { params: { digest } });
    expect(body).toEqual(new Uint8Array([0, 255, 7]));
  });

  it('reuses a connection, unless the server ends it', async () => {
    const ports = new Set<number | undefined>();
    let isLast = false;
    const client = await clientOf((request, response) => {
      ports.add(request.socket.remotePort);
      if (isLast) response.setHeader('connection', 'close');
      response.setHeader('content-type', 'application/json').end('{}');
    });
    const ask = () => client.send(pollCalls, { params, query });
    await ask();
    isLast = true;
    await ask();
    expect(ports.size).toBe(1);
    await ask();
    expect(ports.size).toBe(2);
  });

  it('opens another connection when the server has ended the idle one', async () => {
    const client = await clientOf((_, response) => {
      response.setHeader('content-type', 'application/json').end('{}');
    });
    const ask = () => client.send(pollCalls, { params, query });
    const connected = once(server, 'connection');
    await ask();
    const [socket] = (await connected) as [Socket];
    const closed = once(socket, 'close');
    socket.end('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n');
    await closed;
    expect((await ask()).status).toBe(200);
  });

  it('reads a chunked answer, and one that ends with its connection', async () => {
    let isUnmeasured = false;
    const client = await clientOf(({ socket }, response) => {
      if (isUnmeasured) {
        socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"call":2}');
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"call"');
      setImmediate(() => response.end(':1}'));
    });
    const ask = () => client.send(pollCalls, { params, query });
    expect((await ask()).body).toEqual({ call: 1 });
    isUnmeasured = true;
    expect((await ask()).body).toEqual({ call: 2 });
  });

  it('sends no header whose value contains a line break', async () => {
    const client = await clientOf((_, response) => response.end('{}'));
    const { baseUrl } = client;
    const other = createClient({ baseUrl, authorization: 'Bearer x\r\nhost: elsewhere' });
    const sent = other.send(pollCalls, { params, query });
    await expect(sent).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('throws the error with which the server refuses a request', async () => {
    const client = await clientOf((_, response) => {
      response.writeHead(409, { 'content-type': 'application/json' });
      response.end('{"message":"an old generation","error":"conflict"}');
    });
    await expect(client.send(pollCalls, { params, query })).rejects.toMatchObject({
      code: 'conflict',
      message: 'an old generation',
    });
  });

  it('reports a server as unavailable if it closes the connection before or within its answer', async () => {
    let isCutShort = false;
    const client = await clientOf((request, response) => {
      if (isCutShort) response.writeHead(200, { 'content-length': '99' }).write('{"close":');
      setImmediate(() => request.socket.destroy());
    });
    const ask = () => client.send(pollCalls, { params, query });
    await expect(ask()).rejects.toMatchObject({ code: 'unavailable' });
    isCutShort = true;
    await expect(ask()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('reports a server as unavailable if it is silent for longer than the time limit, before or within its answer', async () => {
    let isCutShort = false;
    const client = await clientOf((_, response) => {
      if (isCutShort) response.writeHead(200, { 'content-length': '99' }).write('{"close":');
    });
    const ask = () => client.send(pollCalls, { params, query, answerMs: 20 });
    await expect(ask()).rejects.toMatchObject({ code: 'unavailable' });
    isCutShort = true;
    await expect(ask()).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('applies the time limit to each answer separately', async () => {
    let waitMs = 400;
    const client = await clientOf((_, response) => {
      response.setHeader('content-type', 'application/json');
      setTimeout(() => response.end('{}'), waitMs);
    });
    const ask = () => client.send(pollCalls, { params, query, answerMs: 1_000 });
    for (let asked = 0; asked < 3; asked += 1) expect((await ask()).status).toBe(200);
    waitMs = 5_000;
    await expect(ask()).rejects.toMatchObject({ cause: { code: 'ETIMEDOUT' } });
    waitMs = 0;
    expect((await ask()).status).toBe(200);
  });

  it('throws the reason of its signal if that aborts before the request, during the wait or within the answer', async () => {
    const aborter = Promise.withResolvers<AbortController>();
    let isCutShort = false;
    const client = await clientOf(async (_, response) => {
      if (isCutShort) response.writeHead(200, { 'content-length': '99' }).write('{"close":');
      (await aborter.promise).abort(new Error('enough'));
    });
    const gone = AbortSignal.abort(new Error('enough'));
    await expect(client.send(pollCalls, { params, query, signal: gone })).rejects.toThrow('enough');
    const waiting = new AbortController();
    aborter.resolve(waiting);
    const { signal } = waiting;
    await expect(client.send(pollCalls, { params, query, signal })).rejects.toThrow('enough');
    isCutShort = true;
    const later = new AbortController();
    const asked = client.send(pollCalls, { params, query, signal: later.signal });
    setImmediate(() => later.abort(new Error('enough')));
    await expect(asked).rejects.toThrow('enough');
  });

  it('reports broken JSON as unavailable', async () => {
    const client = await clientOf((_, response) => {
      response.setHeader('content-type', 'application/json').end('{"close"');
    });
    const sent = client.send(pollCalls, { params, query });
    await expect(sent).rejects.toThrow(/is not valid JSON/);
  });

  it.each([false, true])(
    "ends when its signal aborts, with the signal's reason (answer begun: %s)",
    async (begun) => {
      const asked = Promise.withResolvers<void>();
      const client = await clientOf((_, response) => {
        if (begun) response.writeHead(200, { 'content-length': '99' }).write('{"close":');
        asked.resolve();
      });
      const stopping = new AbortController();
      const sent = client.send(pollCalls, { params, query, signal: stopping.signal });
      await asked.promise;
      stopping.abort(new Error('no longer wanted'));
      await expect(sent).rejects.toThrow('no longer wanted');
      await expect(
        client.send(pollCalls, { params, query, signal: stopping.signal }),
      ).rejects.toThrow('no longer wanted');
    },
  );
});
