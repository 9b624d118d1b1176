/**
 * Request bodies built to cost the control plane's event loop time or memory. Large bodies are
 * parsed in a separate process that can be killed. The event loop, which all requests share,
 * neither parses nor writes large JSON.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { limits } from '#domain/limits.ts';
import { basicAuthorization } from '#wire/client.ts';
import { enqueueCall, getCall, openSession } from '#wire/public-api/operations.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;

beforeAll(async () => {
  control = await startNotesControl();
});
afterAll(() => control.stop());
afterEach(async () => {
  vi.restoreAllMocks();
  await clearPool(control);
});

type Answer = { status: number; bytes: number; body: Record<string, unknown> };

/** Sends a body unchanged; parses the answer only if it is small. */
const send = async (
  path: string,
  payload: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const answer = await control.running.app.inject({
    method: 'POST',
    url: path,
    headers: {
      authorization: basicAuthorization(control.publicKey, control.secretKey),
      'content-type': 'application/json',
      ...headers,
    },
    payload,
  });
  const bytes = answer.rawPayload.byteLength;
  return { status: answer.statusCode, bytes, body: bytes < 100_000 ? answer.json() : {} };
};

/** Returns the problems of an answer; a rejected command lists them apart from its `error`. */
const problemsOf = ({ body }: Answer): { message: string }[] =>
  [body.error, body.problems].find(Array.isArray) ?? [];

const readApart = async (): Promise<number> => {
  const [address = ''] = control.running.metricsAddresses;
  const text = await (await fetch(`${address}/metrics`)).text();
  const counts = [...text.matchAll(/^svc_compile_jobs_total\{[^}]*kind="read"[^}]*\} (\d+)/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
};

/**
 * Watches the JSON that this process parses or writes from now on. The returned function returns the length of the
 * longest text so far.
 */
const watchJson = (): (() => number) => {
  let longest = 0;
  const { parse, stringify } = JSON;
  vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    longest = Math.max(longest, String(text).length);
    return parse(text, reviver);
  });
  vi.spyOn(JSON, 'stringify').mockImplementation((...given: unknown[]) => {
    const text = stringify(...(given as [unknown]));
    longest = Math.max(longest, text?.length ?? 0);
    return text;
  });
  return () => longest;
};

const openOn = async (): Promise<{ host: PlayedHost; sessionId: string }> => {
  const host = await warmHost(control);
  const { body } = await control.send(openSession, { body: { slug: 'notes' } });
  await host.poll();
  await host.ready();
  return { host, sessionId: body.id };
};

const zeros = (count: number): string => `[${'0,'.repeat(count - 1)}0]`;

describe('a body with very many mistakes', () => {
  const worlds = '/api/public/worlds';
  const runtime = '/api/public/worlds/runtime';
  const row = `{"id":${'9'.repeat(400)}}`;
  it.each([
    ['more files than a tree may have', runtime, `{"command":"validate","files":${zeros(2e6)}}`],
    ['files that are none', runtime, `{"command":"validate","files":${zeros(2_000)}}`],
    ['a source that is a list of numbers', worlds, `{"slug":"a","from":${zeros(2e6)}}`],
    ['rows that are none', worlds, `{"slug":"a","data":{"rows":{"notes":${zeros(3e5)}}}}`],
    [
      'a task with a seed of numbers',
      '/api/public/world-sessions',
      `{"slug":"notes","task":{"seed":{"rows":{"notes":${zeros(4e5)}}}}}`,
    ],
    [
      'rows that do not fit',
      '/api/public/world-sessions',
      `{"slug":"notes","task":{"seed":{"rows":{"notes":[${`${row},`.repeat(2_000)}${row}]}}}}`,
    ],
  ])('is answered with at most 50 problems for %s', async (_, path, text) => {
    const answer = await send(path, text);
    expect(answer.status).toBe(400);
    expect(problemsOf(answer).length).toBeGreaterThan(0);
    expect(problemsOf(answer).length).toBeLessThanOrEqual(50);
    expect(answer.bytes).toBeLessThan(64 * 1024);
  });

  it('is answered briefly, however long its invented names are', async () => {
    const name = 'n'.repeat(100_000);
    const answer = await send(
      '/api/public/world-sessions',
      `{"slug":"notes","task":{"seed":{"rows":{"${name}":${zeros(50)}}}}}`,
    );
    expect(problemsOf(answer)).toHaveLength(50);
    expect(answer.bytes).toBeLessThan(64 * 1024);
  });

  it('is refused from a host, too, with one problem for too many fields', async () => {
    const { host, sessionId } = await openOn();
    const path = `/api/host/world-sessions/${sessionId}/calls/call-1/answer`;
    const changes = Array.from({ length: 60_000 }, (__, index) => `"e${index}":0`).join(',');
    const answer = await send(path, `{"generation":1,"answer":{"changes":{${changes}}}}`, {
      authorization: `Bearer ${host.token}`,
    });
    expect(problemsOf(answer)).toEqual([
      {
        path: ['answer', 'changes'],
        message: `must NOT have more than ${limits.members} properties`,
      },
    ]);
  });
});

describe('a large body', () => {
  it('is parsed in a separate process, and so is a small body with very many values', async () => {
    const before = await readApart();
    await send('/api/public/worlds/runtime', `{"command":"validate","files":${zeros(9_000)}}`);
    expect(await readApart()).toBe(before);
    await send('/api/public/worlds/runtime', `{"command":"validate","files":${zeros(30_000)}}`);
    const padding = ' '.repeat(limits.directBodyBytes);
    await send('/api/public/worlds/runtime', `{"command":"validate"${padding}}`);
    expect(await readApart()).toBe(before + 2);
  });

  it('is never parsed or written on the event loop: the rows of a world', async () => {
    const longest = watchJson();
    const notes = Array.from(
      { length: 20_000 },
      (_, n) => `{"id":${n + 2},"folder_id":1,"title":"note ${n} of many","done":false}`,
    );
    const files = JSON.stringify(encodeTree(notesWorld()));
    const text = `{"slug":"rows","from":${files},"data":{"rows":{"notes":[${notes.join(',')}]}}}`;
    expect(text.length).toBeGreaterThan(1_000_000);
    const answer = await send('/api/public/worlds', text);
    expect(answer.status).toBe(201);
    expect(answer.body.version).toMatchObject({ entityCounts: { notes: 20_001 } });
    expect(longest()).toBeLessThan(100_000);
  });

  it('is never parsed or written on the event loop: the input and output of a call', async () => {
    const { host, sessionId } = await openOn();
    const longest = watchJson();
    const path = `/api/public/world-sessions/${sessionId}/calls`;
    const title = 't'.repeat(900_000);
    const asked = await send(
      path,
      `{"kind":"tool","name":"list_notes","input":{"title":"${title}"}}`,
    );
    expect(asked.status).toBe(202);
    const asHost = { authorization: `Bearer ${host.token}` };
    const hostCalls = `/api/host/world-sessions/${sessionId}/calls`;
    const polled = await control.running.app.inject({
      url: `${hostCalls}?generation=${host.generation}&hold=0`,
      headers: asHost,
    });
    expect(polled.payload).toContain(title);
    const [, callId = ''] = /"call":\{"id":"([^"]+)"/.exec(polled.payload) ?? [];
    const output = `{"text":"${'o'.repeat(limits.callOutputBytes - 100)}"}`;
    const answered = await send(
      `${hostCalls}/${callId}/answer`,
      `{"generation":${host.generation},"answer":{"output":${output},"changes":{}}}`,
      asHost,
    );
    expect(answered.status).toBe(200);
    const shown = await control.running.app.inject({
      url: `${path}/${callId}`,
      headers: { authorization: `Bearer ${control.publicKey}` },
    });
    expect(shown.payload).toContain(output);
    expect(shown.payload).toContain(title);
    expect(longest()).toBeLessThan(100_000);
  });

  it('is never parsed or written on the event loop: entries of a ledger', async () => {
    const { host, sessionId } = await openOn();
    const entry = (id: number): string =>
      JSON.stringify({
        ...{ id, at: '2026-01-01T00:00:00.000Z', via: 'api', operation: 'x', method: 'GET' },
        ...{ path: '/', status: 200, request: { body: 'b'.repeat(900_000) }, response: null },
        ...{ duration_ms: 1, changes: {}, rows: [], call_id: null },
      });
    const text = JSON.stringify({ generation: host.generation, entries: [1, 2, 3, 4].map(entry) });
    const longest = watchJson();
    const path = `/api/host/world-sessions/${sessionId}/requests`;
    const answer = await send(path, text, { authorization: `Bearer ${host.token}` });
    expect(answer.status).toBe(200);
    expect(longest()).toBeLessThan(100_000);
  });

  it('leaves the service healthy when it is refused', async () => {
    const cases = [
      `{"slug":"a","data":{"rows":{"n":[${'{},'.repeat(5e6)}{}]}}}`,
      `{"slug":"a","data":${'['.repeat(4e6)}`,
      `{"slug":"a","data":"${'a'.repeat(4e6)}`,
    ];
    for (const text of cases)
      expect(await send('/api/public/worlds', text)).toMatchObject({ status: 400 });
    expect((await control.raw({ method: 'GET', path: '/health' })).status).toBe(200);
  });
});

describe('a malformed body', () => {
  const path = '/api/public/world-sessions';
  const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const padded = (text: string): string => `${text}${' '.repeat(limits.directBodyBytes)}`;
  const bytes = (text: string): Buffer => Buffer.concat([Buffer.from(text), Buffer.from([0xff])]);

  it.each([
    ['no JSON', '{"slug":', /not JSON/],
    ['no UTF-8', bytes('{"slug":"a"}'), /not UTF-8/],
    ['nested too deep', `{"task":${deep(300)}}`, /deeper than 200 levels/],
    ['with a prototype', '{"slug":"a","task":{"metadata":{"__proto__":{}}}}', /__proto__/],
    [
      'with a spelled prototype',
      '{"slug":"a","task":{"metadata":{"\\u005f_proto__":1}}}',
      /__proto__/,
    ],
  ])(
    'is refused with the same message whether it is small or large: %s',
    async (_, text, message) => {
      const large =
        typeof text === 'string' ? padded(text) : Buffer.concat([Buffer.from(padded('')), text]);
      for (const payload of [text, large]) {
        const answer = await send(path, payload);
        expect(answer).toMatchObject({ status: 400, body: { error: 'invalid' } });
        expect(String(answer.body.message)).toMatch(message);
      }
    },
  );

  it('is refused when its inflated size is over the limit, and inflation stops there', async () => {
    const zipped = gzipSync(`{"slug":"${'a'.repeat(50e6)}"}`);
    expect(zipped.byteLength).toBeLessThan(100_000);
    const answer = await send(path, zipped, { 'content-encoding': 'gzip' });
    expect(answer).toMatchObject({
      status: 413,
      body: { error: 'invalid', message: expect.stringContaining('after decompression') },
    });
  });

  it('with a duplicate key has the last value everywhere: at the host and in the database', async () => {
    const { host, sessionId } = await openOn();
    const text = '{"kind":"reset","kind":"tool","name":"list_notes","input":{"a":1,"a":2}}';
    const answer = await send(`/api/public/world-sessions/${sessionId}/calls`, text);
    expect(answer.status).toBe(202);
    expect((await host.calls()).call).toMatchObject({ kind: 'tool', input: { a: 2 } });
    const rows = await control.sql<{ input: string }>('select input::text from calls');
    expect(rows.map(({ input }) => input)).toContain('{"a":2}');
  });
});

/** Returns everything that the server sends back for raw bytes until the connection closes. */
const sendRaw = async (text: string): Promise<string> => {
  const { port } = new URL(control.running.addresses.public[0] ?? '');
  const socket = connect(Number(port), '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk;
  });
  const closed = once(socket, 'close');
  // The server cuts about half of these connections while the body is still being sent.
  socket.on('error', () => undefined);
  socket.write(text);
  await closed;
  return answer;
};

describe('a body with two lengths or an invalid length', () => {
  const head = (lines: string): string =>
    [
      'POST /api/public/world-sessions HTTP/1.1',
      'Host: svc.test',
      `Authorization: ${basicAuthorization(control.publicKey, control.secretKey)}`,
      'Content-Type: application/json',
      `Connection: close${lines}`,
      '',
      '',
    ].join('\r\n');

  it.each([
    ['by two lengths', '\r\nContent-Length: 2\r\nContent-Length: 12', '{}'],
    [
      'by a length and by chunks',
      '\r\nContent-Length: 2\r\nTransfer-Encoding: chunked',
      '0\r\n\r\n',
    ],
    ['by a length that is no number', '\r\nContent-Length: -1', '{}'],
    ['by chunks that are none', '\r\nTransfer-Encoding: chunked', 'zz\r\n{}\r\n0\r\n\r\n'],
    ['by an unknown transfer', '\r\nTransfer-Encoding: gzip', '{}'],
  ])('is refused: %s', async (_, lines, body) => {
    expect(await sendRaw(`${head(lines)}${body}`)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect((await control.raw({ method: 'GET', path: '/health' })).status).toBe(200);
  });
});

describe('an input that PostgreSQL cannot read as text', () => {
  it('is stored, and the host can answer the call', async () => {
    const { host, sessionId } = await openOn();
    const { body: call } = await control.send(enqueueCall, {
      params: { sessionId },
      body: { kind: 'tool', name: 'list_notes', input: { keepWarm: '\u0000' } },
    });
    await host.calls();
    expect(await host.answer(call.id, { output: [] })).toEqual({});
    const params = { sessionId, callId: call.id };
    expect((await control.read(getCall, { params })).body.state).toBe('succeeded');
  });
});
