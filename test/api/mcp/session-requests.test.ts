/**
 * Tests HTTP requests to the MCP server of a session that violate the protocol, or that come from pages of other
 * sites.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSession } from '#wire/public-api/operations.ts';
import { type Answering, answerCalls } from '../../support/control/answering-host.ts';
import { clearPool, warmHost } from '../../support/control/host.ts';
import { bothTypes, rpc } from '../../support/control/mcp.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let sessionId: string;
let token: string;
let answering: Answering;

beforeAll(async () => {
  control = await startNotesControl();
});
beforeEach(async () => {
  const host = await warmHost(control);
  const { body } = await control.send(openSession, { body: { slug: 'notes' } });
  sessionId = body.id;
  token = body.surfaces.mcp?.token ?? '';
  await host.poll();
  await host.ready();
  answering = answerCalls(host, () => ({ output: [] }));
});
afterEach(async () => {
  await answering.stop();
  await clearPool(control);
});
afterAll(() => control.stop());

const pathOf = () => `/api/public/world-sessions/${sessionId}/mcp`;

const send = (body: string, headers: Record<string, string> = {}, path = pathOf()) =>
  control.raw({
    method: 'POST',
    path,
    headers: {
      authorization: `Bearer ${token}`,
      accept: bothTypes,
      'content-type': 'application/json',
      ...headers,
    },
    body,
  });

describe('a request that violates the protocol', () => {
  const ping = rpc('ping');

  it('gets an error about its headers, with its id if its body was read', async () => {
    const unread = null;
    const refusals: [Record<string, string>, number, string, number | null][] = [
      [
        { accept: 'application/json' },
        406,
        'the header Accept must name application/json and text/event-st',
        1,
      ],
      [{ accept: '*/*' }, 406, 'the header Accept must name', 1],
      [{ 'content-type': 'text/plain' }, 415, 'Unsupported', unread],
      [{ 'mcp-protocol-version': '1999-01-01' }, 400, 'supported are 2026-07-28, 2025-11-25', 1],
      [{ 'content-encoding': 'br' }, 415, 'br', unread],
      [{ 'content-encoding': 'gzip' }, 400, 'gzip', unread],
    ];
    for (const [headers, status, words, named] of refusals) {
      const answer = await send(ping, headers);
      expect(answer.status, JSON.stringify(headers)).toBe(status);
      const { jsonrpc, id, error } = answer.body as {
        jsonrpc: string;
        id: number | null;
        error: { message: string };
      };
      expect({ jsonrpc, id }, words).toEqual({ jsonrpc: '2.0', id: named });
      expect(error.message).toContain(words);
    }
  });

  it('gets an error about its body', async () => {
    const bodies: [string, number, number][] = [
      ['{', 400, -32_700],
      ['', 400, -32_600],
      ['7', 400, -32_600],
      ['{}', 400, -32_600],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32_600],
      ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 400, -32_600],
      ['[]', 400, -32_600],
      [`[${Array(21).fill(ping).join()}]`, 400, -32_600],
      [`[${ping},${ping}]`, 400, -32_600],
      [`${'['.repeat(300)}${']'.repeat(300)}`, 400, -32_600],
    ];
    for (const [body, status, code] of bodies) {
      const answer = await send(body);
      expect(
        [answer.status, (answer.body as { error: { code: number } }).error.code],
        body,
      ).toEqual([status, code]);
    }
  });

  it('gets 405 if its method is not POST', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const headers = { authorization: `Bearer ${token}`, accept: bothTypes };
      const answer = await control.raw({ method, path: pathOf(), headers });
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toBe('OPTIONS, POST');
    }
  });

  it('may contain several messages only for clients of earlier revisions', async () => {
    const two = `[${rpc('ping', {}, 'a')},${rpc('tools/list', {}, 2)},{"jsonrpc":"2.0","method":"notifications/x"}]`;
    const answer = await send(two, { 'mcp-protocol-version': '2025-03-26' });
    expect(answer.body).toMatchObject([
      { id: 'a', result: {} },
      { id: 2, result: { tools: [{}, {}, {}] } },
    ]);
    const later = await send(two, { 'mcp-protocol-version': '2025-11-25' });
    expect(later.status).toBe(400);
  });

  it('without a request id gets no answer', async () => {
    for (const body of [
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
      '{"jsonrpc":"2.0","id":1,"result":{}}',
    ]) {
      const answer = await send(body);
      expect([answer.status, answer.body]).toEqual([202, '']);
    }
  });

  it('gets an error for an unknown method, an invalid call or an unknown resource', async () => {
    const answers: [string, number][] = [
      [rpc('prompts/list'), -32_601],
      [rpc('constructor'), -32_601],
      [rpc('tools/call'), -32_602],
      [rpc('tools/call', { name: 7 }), -32_602],
      [rpc('tools/call', { name: 'list_notes', arguments: [1] }), -32_602],
      [rpc('resources/read', { uri: 'file:///etc/passwd' }), -32_002],
    ];
    for (const [body, code] of answers) {
      const answer = await send(body);
      expect(answer.body, body).toMatchObject({ id: 1, error: { code } });
    }
  });
});

describe('a request with a Host or Origin header', () => {
  const list = rpc('tools/list');
  const sendFrom = (headers: Record<string, string>) => send(list, headers);

  it('is refused with 403 for the name of another site', async () => {
    for (const name of ['evil.example', 'svc.test.evil.example', 'localhost.evil.example']) {
      const answer = await sendFrom({ host: name });
      expect(answer.status, name).toBe(403);
      expect((answer.body as { message: string }).message).toContain('SVC_ALLOWED_HOSTS');
    }
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example', '?']) {
      const answer = await sendFrom({ origin });
      expect(answer.status, origin).toBe(403);
    }
  });

  it('is served for the names of the installation and for local names', async () => {
    for (const name of ['localhost', 'svc.test', '127.0.0.1:4500', '[::1]:4500', '10.1.2.3']) {
      expect((await sendFrom({ host: name })).status, name).toBe(200);
    }
    for (const origin of ['http://localhost:6274', 'https://svc.test', 'http://127.0.0.1:1']) {
      expect((await sendFrom({ origin })).status, origin).toBe(200);
    }
  });
});
