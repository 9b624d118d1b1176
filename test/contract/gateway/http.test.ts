/**
 * Tests that a request through the gateway arrives at both ends as if sent directly: methods, headers, streams and
 * trailers. Also tests the headers by which the gateway describes host and client to each other.
 */
import { once } from 'node:events';
import { type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import {
  ask,
  headLines,
  openRaw,
  readAnswer,
  startTestGateway,
} from '../../support/gateway/gateway.ts';

const gateway = await startTestGateway();

afterAll(() => gateway.stop());

/** Opens a request; the test writes its body and reads its answer. */
const open = (sessionId: string, options: object) =>
  openRequest({
    host: '127.0.0.1',
    port: gateway.port,
    agent: false,
    headers: { host: gateway.hostOf(sessionId), ...(options as { headers?: object }).headers },
    ...Object.fromEntries(Object.entries(options).filter(([name]) => name !== 'headers')),
  });

const answered = async (outgoing: ReturnType<typeof open>): Promise<IncomingMessage> =>
  ((await once(outgoing, 'response')) as [IncomingMessage])[0];

/** Listener of a host that returns the request in its answer. */
const echo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = Buffer.concat(await request.toArray()).toString();
  const { method, url, rawHeaders, rawTrailers } = request;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ method, url, rawHeaders, rawTrailers, body }));
};

const echoed = (body: string) => {
  const { rawHeaders, ...rest } = JSON.parse(body);
  const headers = (name: string): string[] =>
    rawHeaders.filter((_: string, i: number) => rawHeaders[i - 1]?.toLowerCase() === name && i % 2);
  return { ...rest, headers };
};

describe('a request through the gateway', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'with the method %s is passed on unchanged',
    async (method) => {
      const id = await gateway.serve(echo);
      const path = '/a%2Fb/../c?q=%20&q=ä'.replace('ä', '%C3%A4');
      const body = method === 'GET' ? undefined : '{"x":1}';
      const length = String(body?.length ?? 0);
      const { status, body: text } = await ask(gateway.port, {
        host: gateway.hostOf(id),
        method,
        path,
        headers: { 'X-Case': 'Kept', ...(body === undefined ? {} : { 'content-length': length }) },
        ...(body === undefined ? {} : { body }),
      });
      expect(status).toBe(200);
      const seen = echoed(text);
      expect(seen).toMatchObject({ method, url: path, body: body ?? '' });
      expect(seen.headers('x-case')).toEqual(['Kept']);
    },
  );

  it("carries the requested address and the client's address to the host", async () => {
    const id = await gateway.serve(echo);
    const host = `${gateway.hostOf(id)}:8080`;
    const { body } = await ask(gateway.port, {
      host,
      headers: {
        'x-forwarded-for': '6.6.6.6',
        'x-forwarded-proto': 'gopher',
        'x-forwarded-host': 'evil.test',
        forwarded: 'for=6.6.6.6',
      },
    });
    const { headers } = echoed(body);
    expect(headers('host')).toEqual([host]);
    expect(headers('x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(headers('x-forwarded-host')).toEqual([host]);
    expect(headers('x-forwarded-proto')).toEqual(['http']);
    expect(headers('forwarded')).toEqual([`for=127.0.0.1;host="${host}";proto=http`]);
    expect(headers('via')).toEqual(['1.1 svc-gateway']);
  });

  it('arrives without hop-by-hop headers', async () => {
    const id = await gateway.serve(echo);
    const { body } = await ask(gateway.port, {
      host: gateway.hostOf(id),
      headers: [
        ...['connection', 'X-Mine, keep-alive', 'x-mine', '1', 'keep-alive', 'timeout=9'],
        ...['te', 'gzip', 'proxy-authorization', 'Basic eA==', 'proxy-connection', 'keep-alive'],
        ...['upgrade', 'h2c', 'http2-settings', 'x', 'x-other', '2', 'via', '1.0 first'],
      ],
    });
    const { headers } = echoed(body);
    for (const name of [
      ...['x-mine', 'keep-alive', 'te', 'proxy-authorization', 'proxy-connection', 'upgrade'],
      'http2-settings',
    ]) {
      expect(headers(name), name).toEqual([]);
    }
    expect(headers('x-other')).toEqual(['2']);
    expect(headers('via')).toEqual(['1.0 first', '1.1 svc-gateway']);
    expect(headers('connection')).toEqual(['keep-alive']);
  });

  it('keeps its framing: a length stays a length, and chunks stay chunks', async () => {
    const id = await gateway.serve(echo);
    const host = gateway.hostOf(id);
    const post = { host, method: 'POST' };
    const sized = await ask(gateway.port, {
      ...post,
      headers: { 'content-length': '2' },
      body: 'ab',
    });
    expect(echoed(sized.body).headers('content-length')).toEqual(['2']);
    expect(echoed(sized.body).headers('transfer-encoding')).toEqual([]);
    const chunked = await ask(gateway.port, {
      ...post,
      headers: { 'transfer-encoding': 'chunked' },
      body: 'ab',
    });
    expect(echoed(chunked.body).headers('content-length')).toEqual([]);
    expect(echoed(chunked.body).headers('transfer-encoding')).toEqual(['chunked']);
    const empty = await ask(gateway.port, { ...post, headers: { 'content-length': '0' } });
    expect(echoed(empty.body).headers('content-length')).toEqual(['0']);
  });

  it('arrives with its trailers', async () => {
    const id = await gateway.serve(echo);
    const outgoing = open(id, {
      method: 'POST',
      headers: { 'transfer-encoding': 'chunked', trailer: 'X-Sum' },
    });
    outgoing.write('abc');
    outgoing.addTrailers({ 'X-Sum': '7', Authorization: 'Bearer late' });
    outgoing.end();
    const { body } = await readAnswer(await answered(outgoing));
    expect(echoed(body)).toMatchObject({ body: 'abc', rawTrailers: ['X-Sum', '7'] });
  });

  it('with Expect: 100-continue sends its body when the host asks for it', async () => {
    const wanted: boolean[] = [];
    const id = await gateway.serve(echo);
    const outgoing = open(id, {
      method: 'PUT',
      headers: { expect: '100-continue', 'content-length': '3' },
    });
    outgoing.flushHeaders();
    await once(outgoing, 'continue');
    wanted.push(true);
    outgoing.end('abc');
    const { body } = await readAnswer(await answered(outgoing));
    expect(echoed(body)).toMatchObject({ body: 'abc' });
    expect(echoed(body).headers('expect')).toEqual(['100-continue']);
    expect(wanted).toEqual([true]);
  });
});

describe('an answer through the gateway', () => {
  it('keeps its status, its reason phrase and its headers, including repeated ones', async () => {
    const id = await gateway.serve((_, response) => {
      response.writeHead(299, 'Quite Fine', [
        ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Case', 'Kept', 'Date', 'then'],
        ...['Connection', 'X-Mine', 'X-Mine', '1', 'Proxy-Authenticate', 'Basic'],
      ]);
      response.end('fine');
    });
    const answer = await ask(gateway.port, { host: gateway.hostOf(id) });
    expect(answer.status).toBe(299);
    expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(answer.rawHeaders).toEqual(expect.arrayContaining(['X-Case', 'Kept', 'Date', 'then']));
    expect(answer.headers).toMatchObject({ via: '1.1 svc-gateway', date: 'then' });
    expect(answer.headers['x-mine'] ?? answer.headers['proxy-authenticate']).toBeUndefined();
    expect(answer.body).toBe('fine');
  });

  it('to HEAD, and with 204 or 304, has no body and keeps its length', async () => {
    const id = await gateway.serve((request, response) => {
      if (request.method === 'HEAD') response.writeHead(200, { 'content-length': '1234' }).end();
      else response.writeHead(request.url === '/304' ? 304 : 204, { etag: '"x"' }).end();
    });
    const host = gateway.hostOf(id);
    const head = await ask(gateway.port, { host, method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '1234' } });
    for (const status of [204, 304]) {
      const answer = await ask(gateway.port, { host, path: `/${status}` });
      expect(answer).toMatchObject({ status, body: '', headers: { etag: '"x"' } });
    }
  });

  it('arrives with its trailers', async () => {
    const id = await gateway.serve((_, response) => {
      response.writeHead(200, { trailer: 'X-Sum' });
      response.write('abc');
      response.addTrailers({ 'X-Sum': '7' });
      response.end();
    });
    const host = gateway.hostOf(id);
    const { trailers, body, headers } = await ask(gateway.port, { host });
    expect({ trailers, body, trailer: headers.trailer }).toEqual({
      trailers: { 'x-sum': '7' },
      body: 'abc',
      trailer: 'X-Sum',
    });
  });

  it('follows the early hints that the host sends before it', async () => {
    const id = await gateway.serve((_, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.end('fine');
    });
    const outgoing = open(id, {});
    const hinted = once(outgoing, 'information');
    const answer = answered(outgoing);
    outgoing.end();
    expect((await hinted)[0]).toMatchObject({
      statusCode: 103,
      headers: { link: '</style.css>; rel=preload' },
    });
    expect((await readAnswer(await answer)).body).toBe('fine');
  });

  it('is sent whole to an HTTP/1.0 client, and then the connection ends', async () => {
    const id = await gateway.serve((_, response) => {
      response.write('in ');
      response.end('pieces');
    });
    const { socket, text } = await openRaw(gateway.port);
    socket.write(headLines('GET / HTTP/1.0', `Host: ${gateway.hostOf(id)}`));
    await once(socket, 'end');
    socket.destroy();
    expect(text()).toMatch(/\r\n\r\nin pieces$/);
    expect(text().toLowerCase()).not.toContain('chunked');
  });
});

describe('streams through the gateway', () => {
  it('flow both ways at once, piece by piece', async () => {
    const id = await gateway.serve((request, response) => {
      response.flushHeaders();
      request.on('data', (chunk) => response.write(`<${chunk}>`)).on('end', () => response.end());
    });
    const outgoing = open(id, { method: 'POST', headers: { 'transfer-encoding': 'chunked' } });
    outgoing.flushHeaders();
    const answer = await answered(outgoing);
    let text = '';
    answer.on('data', (chunk) => {
      text += chunk;
    });
    for (const [piece, so] of [
      ['one', '<one>'],
      ['two', '<one><two>'],
    ] as const) {
      outgoing.write(piece);
      await until(() => text === so, { timeoutMs: 30_000, what: so });
    }
    outgoing.end();
    await once(answer, 'end');
    expect(text).toBe('<one><two>');
  });

  it('flow at the speed of the slower end', async () => {
    let written = 0;
    const id = await gateway.serve((_, response) => {
      const piece = Buffer.alloc(65_536, 1);
      const write = (): void => {
        do written += piece.length;
        while (written < 64 * 2 ** 20 && response.write(piece));
        if (written >= 64 * 2 ** 20) response.end();
      };
      response.on('drain', write);
      write();
    });
    const outgoing = open(id, {});
    outgoing.end();
    const answer = await answered(outgoing);
    let seen = -1;
    await until(
      () => {
        const isStill = seen === written;
        seen = written;
        return isStill;
      },
      { timeoutMs: 10_000, everyMs: 200, what: 'the host held back' },
    );
    expect(written).toBeLessThan(32 * 2 ** 20);
    let read = 0;
    for await (const chunk of answer) read += chunk.length;
    expect(read).toBe(64 * 2 ** 20 - 65_536);
  });

  it('end for the host when the client disconnects, and for the client when the host does', async () => {
    const left = Promise.withResolvers<void>();
    const id = await gateway.serve((request, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half');
      response.once('close', () => left.resolve());
      if (request.url === '/go') setImmediate(() => request.socket.destroy());
    });
    const staying = open(id, {});
    staying.on('error', () => undefined).end();
    const answer = await answered(staying);
    answer.on('error', () => undefined);
    await once(answer, 'data');
    staying.destroy();
    await left.promise;

    const going = open(id, { path: '/go' });
    going.on('error', () => undefined).end();
    const broken = await answered(going);
    await expect(readAnswer(broken)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('end for the host when the client disconnects while sending its body', async () => {
    const left = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const id = await gateway.serve((request) => {
      request.on('error', () => undefined).once('data', () => begun.resolve());
      request.once('close', () => left.resolve());
    });
    const outgoing = open(id, { method: 'POST', headers: { 'content-length': '100' } });
    outgoing.on('error', () => undefined).write('some');
    await begun.promise;
    outgoing.destroy();
    await left.promise;
  });
});

describe('connections of the gateway', () => {
  it('to hosts are reused, and requests on one client connection are answered in order', async () => {
    const ports = new Set<number | undefined>();
    const asked: { url: string; answer(): void }[] = [];
    const id = await gateway.serve((request, response) => {
      ports.add(request.socket.remotePort);
      asked.push({ url: request.url ?? '', answer: () => response.end('fine') });
    });
    const { socket, text } = await openRaw(gateway.port);
    const paths = ['/1', '/2', '/3', '/4'];
    const host = `Host: ${gateway.hostOf(id)}`;
    socket.write(paths.map((path) => headLines(`GET ${path} HTTP/1.1`, host)).join(''));
    for (const [index, path] of paths.entries()) {
      await until(() => asked.length > index, { timeoutMs: 30_000, what: path });
      // The host has received no request after the one that is still unanswered.
      expect(asked.map(({ url }) => url)).toEqual(paths.slice(0, index + 1));
      asked[index]?.answer();
      await until(() => text().split('fine').length === index + 2, {
        timeoutMs: 30_000,
        what: `the answer to ${path}`,
      });
    }
    expect(ports.size).toBe(1);
    socket.write(headLines('GET /5 HTTP/1.1', host).repeat(1_000));
    await until(() => socket.readableEnded || socket.destroyed, {
      timeoutMs: 30_000,
      what: 'the end of a connection with too many requests',
    });
  });

  it('to hosts are not mixed up between sessions', async () => {
    const [first, second] = await Promise.all(
      ['one', 'two'].map((name) => gateway.serve((_, response) => response.end(name))),
    );
    const { socket, text } = await openRaw(gateway.port);
    for (const id of [first, second, first]) {
      socket.write(headLines('GET / HTTP/1.1', `Host: ${gateway.hostOf(id ?? '')}`));
    }
    await until(() => /one.*two.*one/s.test(text()), { timeoutMs: 30_000, what: 'the answers' });
    socket.destroy();
  });
});
