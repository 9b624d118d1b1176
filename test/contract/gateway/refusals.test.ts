/**
 * Tests refusals of the gateway: ambiguous requests, invalid hosts, and requests over a limit. Refusals have one form
 * and name no host.
 */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { until } from '#runtime/pause.ts';
import {
  ask,
  headLines,
  openRaw,
  sendRaw,
  startTestGateway,
} from '../../support/gateway/gateway.ts';

const gateway = await startTestGateway({
  limits: {
    headerBytes: 8_192,
    bodyBytes: 1_000,
    perSession: 2,
    headersMs: 200,
    clientMs: 600,
    answerMs: 900,
    connectMs: 500,
  },
});
/** Requests that reached the host. */
let reached: string[] = [];
const id = await gateway.serve((request, response) => {
  reached.push(`${request.method} ${request.url}`);
  request.on('error', () => undefined);
  if (request.url === '/never') return;
  if (request.url === '/half') {
    response.writeHead(200, { 'content-length': '10' }).write('half');
    return;
  }
  request.on('end', () => response.end('fine')).resume();
});

beforeEach(() => {
  reached = [];
});

afterAll(() => gateway.stop());

describe('ambiguous requests', () => {
  const host = () => `Host: ${gateway.hostOf(id)}`;
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';

  it.each<[string, () => string]>([
    [
      'two lengths',
      () =>
        headLines('POST / HTTP/1.1', host(), 'Content-Length: 3', 'Content-Length: 5') + smuggled,
    ],
    [
      'the same length twice',
      () =>
        headLines('POST / HTTP/1.1', host(), 'Content-Length: 0', 'Content-Length: 0') + smuggled,
    ],
    [
      'a list of lengths',
      () => headLines('POST / HTTP/1.1', host(), 'Content-Length: 0, 0') + smuggled,
    ],
    [
      'a signed length',
      () => headLines('POST / HTTP/1.1', host(), 'Content-Length: +3') + smuggled,
    ],
    [
      'a length and chunks',
      () =>
        `${headLines('POST / HTTP/1.1', host(), 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n${smuggled}`,
    ],
    [
      'chunks within another coding',
      () => `${headLines('POST / HTTP/1.1', host(), 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
    ],
    [
      'an unknown coding',
      () => headLines('POST / HTTP/1.1', host(), 'Transfer-Encoding: xchunked'),
    ],
    [
      'a coding behind a tab and a bad byte',
      () => headLines('POST / HTTP/1.1', host(), 'Transfer-Encoding: \x0bchunked') + smuggled,
    ],
    [
      'chunks of HTTP/1.0',
      () => `${headLines('POST / HTTP/1.0', host(), 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    ],
    ['a version that is none here', () => headLines('GET / HTTP/2.0', host())],
    ['a version without headers', () => headLines('GET / HTTP/0.9', host())],
    ['a space before the colon', () => headLines('POST / HTTP/1.1', host(), 'Content-Length : 3')],
    ['a folded header', () => headLines('GET / HTTP/1.1', host(), 'X-A: 1', ' Content-Length: 3')],
    ['a bare line feed', () => `GET / HTTP/1.1\n${host()}\nX-A: 1\n\n`],
    ['a bare carriage return', () => headLines('GET / HTTP/1.1', host(), 'X-A: 1\rX-B: 2')],
    ['a null byte', () => headLines('GET / HTTP/1.1', host(), 'X-A: 1\x002')],
    ['two hosts', () => headLines('GET / HTTP/1.1', host(), 'Host: other.test')],
    ['no host', () => headLines('GET / HTTP/1.1', 'X-A: 1')],
    ['a host with a user', () => headLines('GET / HTTP/1.1', `Host: a@${gateway.hostOf(id)}`)],
    ['a host with a path', () => headLines('GET / HTTP/1.1', `Host: ${gateway.hostOf(id)}/x`)],
    [
      'a target of another host',
      () => headLines('GET http://169.254.169.254/latest HTTP/1.1', host()),
    ],
    ['a target that is no path', () => headLines('GET latest HTTP/1.1', host())],
    ['a tunnel', () => headLines('CONNECT 10.0.0.1:22 HTTP/1.1', 'Host: 10.0.0.1:22')],
    ['an expectation', () => headLines('GET / HTTP/1.1', host(), 'Expect: the-best')],
  ])('with %s are refused', async (_, written) => {
    const answer = await sendRaw(gateway.port, written());
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).toContain('{"error":{"code":"');
    expect(answer.toLowerCase()).toContain('connection: close');
    expect(reached).toEqual([]);
  });

  it.each([
    ['a size that is no number', 'zz\r\nabc\r\n0\r\n\r\n'],
    ['a size below nothing', '-1\r\nabc\r\n0\r\n\r\n'],
    ['more than its size', '3\r\nabcdef\r\n0\r\n\r\n'],
    ['a length after it', '3\r\nabc\r\n0\r\nContent-Length: 9\r\n\r\n'],
  ])('with a chunk that has %s are cut off', async (_, body) => {
    const head = headLines('POST / HTTP/1.1', host(), 'Transfer-Encoding: chunked');
    const answer = await sendRaw(gateway.port, `${head}${body}${smuggled}`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(reached.join()).not.toContain('smuggled');
  });

  it('are served when there is only one way to read them', async () => {
    const target = `GET http://${gateway.hostOf(id)}/whole?x HTTP/1.1`;
    const answer = await sendRaw(gateway.port, headLines(target, host(), 'Connection: close'));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(reached).toEqual(['GET /whole?x']);
  });
});

describe('requests whose Host header names no surface', () => {
  it.each([
    ['example.com', 'unknown_host'],
    ['worlds.test', 'unknown_host'],
    ['x--api.worlds.test', 'no_such_session'],
    [`${newId('ses')}--db.worlds.test`, 'no_such_session'],
    [`a.${newId('ses')}--api.worlds.test`, 'no_such_session'],
    [`${newId('ses')}--api.worlds.test`, 'no_such_session'],
  ])('are answered with 404: %s', async (host, code) => {
    expect(await ask(gateway.port, { host })).toMatchObject({ status: 404, code });
  });

  it('reach the health routes of the gateway if they name no session either', async () => {
    const host = '127.0.0.1';
    expect(await ask(gateway.port, { host, path: '/health' })).toMatchObject({ status: 200 });
    expect(await ask(gateway.port, { host, path: '/ready' })).toMatchObject({ status: 200 });
    const surface = gateway.hostOf(id);
    expect(await ask(gateway.port, { host: surface, path: '/ready' })).toMatchObject({
      body: 'fine',
    });
  });

  it('are refused with 404, also for a surface that the session does not have', async () => {
    const answer = await ask(gateway.port, { host: gateway.hostOf(id, 'browser') });
    expect(answer).toMatchObject({ status: 404, code: 'no_such_surface' });
  });
});

describe('the limits of the gateway', () => {
  it('apply to headers', async () => {
    const headers = { 'x-long': 'x'.repeat(9_000) };
    const answer = await ask(gateway.port, { host: gateway.hostOf(id), headers });
    expect(answer).toMatchObject({ status: 431, code: 'headers_too_large' });
  });

  it('apply to bodies, with or without a length', async () => {
    const host = gateway.hostOf(id);
    const body = Buffer.alloc(200_000);
    const said = { method: 'POST', headers: { 'content-length': String(body.length) }, body, host };
    expect(await ask(gateway.port, said)).toMatchObject({ status: 413, code: 'body_too_large' });
    expect(reached).toEqual([]);
    const chunked = { ...said, headers: { 'transfer-encoding': 'chunked' } };
    expect(await ask(gateway.port, chunked)).toMatchObject({ status: 413, code: 'body_too_large' });
    const fits = { ...said, headers: { 'content-length': '1000' }, body: Buffer.alloc(1_000) };
    expect(await ask(gateway.port, fits)).toMatchObject({ status: 200 });
  });

  it('apply to concurrent requests of one session', async () => {
    const host = gateway.hostOf(id);
    const held = [1, 2].map(() => ask(gateway.port, { host, path: '/never' }));
    await until(() => reached.length === 2, { timeoutMs: 30_000, what: 'both requests' });
    const third = await ask(gateway.port, { host });
    expect(third).toMatchObject({ status: 429, code: 'too_many_requests' });
    expect(third.headers['retry-after']).toBe('1');
    await Promise.all(held);
    expect(await ask(gateway.port, { host })).toMatchObject({ status: 200 });
  });

  it('apply to hosts that do not answer or stop in the middle of an answer', async () => {
    const host = gateway.hostOf(id);
    const late = await ask(gateway.port, { host, path: '/never' });
    expect(late).toMatchObject({ status: 504, code: 'answer_timeout' });
    await expect(ask(gateway.port, { host, path: '/half' })).rejects.toMatchObject({
      code: 'ECONNRESET',
    });
  });

  it('apply to clients that are slow to send their request', async () => {
    const slow = await sendRaw(gateway.port, 'GET / HTTP/1.1\r\nHos');
    expect(slow).toMatch(/^HTTP\/1\.1 408 /);
    const host = `Host: ${gateway.hostOf(id)}`;
    const stuck = await sendRaw(
      gateway.port,
      `${headLines('POST /slow HTTP/1.1', host, 'Content-Length: 9')}abc`,
    );
    expect(stuck).toMatch(/^HTTP\/1\.1 408 /);
    expect(stuck).toContain('request_timeout');
  });

  it('apply to clients that do not read their answer', async () => {
    const left = Promise.withResolvers<void>();
    const large = await gateway.serve((_, response) => {
      response.once('close', () => left.resolve());
      response.end(Buffer.alloc(64 * 2 ** 20));
    });
    const { socket } = await openRaw(gateway.port);
    socket.pause();
    socket.write(headLines('GET / HTTP/1.1', `Host: ${gateway.hostOf(large)}`));
    await left.promise;
    socket.destroy();
  });

  it('apply to clients that end their side of the connection, which count as gone', async () => {
    const left = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const waiting = await gateway.serve((request) => {
      begun.resolve();
      request.once('close', () => left.resolve());
    });
    const { socket } = await openRaw(gateway.port);
    socket.write(headLines('GET / HTTP/1.1', `Host: ${gateway.hostOf(waiting)}`));
    await begun.promise;
    socket.end();
    await left.promise;
    socket.destroy();
  });
});

describe('failing hosts', () => {
  it.each(['GET', 'POST'])(
    'are sent a %s once, and the client gets 502 without their address',
    async (method) => {
      let asked = 0;
      const failing = await gateway.serve((request) => {
        asked += 1;
        request.socket.destroy();
      });
      const headers = { 'content-length': method === 'GET' ? '0' : '3' };
      const body = method === 'GET' ? undefined : 'abc';
      const asking = { host: gateway.hostOf(failing), method, headers };
      const answer = await ask(gateway.port, {
        ...asking,
        ...(body === undefined ? {} : { body }),
      });
      expect(answer).toMatchObject({ status: 502, code: 'host_broke_off' });
      expect(asked).toBe(1);
      expect(answer.body).not.toMatch(/127\.0\.0\.1|ECONN/);
    },
  );
});
