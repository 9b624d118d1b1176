/** Whole command lines, against a service that answers what each test tells it to. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { runCommandLine } from './program.ts';
import { testContext } from './test-context.ts';

type Asked = { method: string; url: string; authorization: string; body: unknown };
type Told = { status?: number; body: unknown };

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? undefined : JSON.parse(text);
};

const session = {
  id: 'ses-1',
  slug: 'notes',
  versionId: 'ver-1',
  state: 'READY',
  ready: true,
  endReason: null,
  error: null,
  instruction: 'Do it.\n',
  tools: [{ name: 'list_notes', inputSchema: {}, outputSchema: {} }],
  surfaces: { api: { url: 'http://127.0.0.1:9', token: 'st-1' } },
  task: { form: 'bundled', name: 'finish', contentHash: 'sha256:0', id: null, version: null },
  pinned: false,
  browserTier: 'standard',
  size: 'standard',
  isolation: null,
  clock: { at: '2026-03-01T00:00:00.000Z', mode: 'stepped', rate: 60 },
  seed: 7,
  hostReused: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  assignedAt: '2026-01-01T00:00:00.001Z',
  readyAt: '2026-01-01T00:00:00.021Z',
  closedAt: null,
  lastActivityAt: '2026-01-01T00:00:00.000Z',
};

const call = {
  id: 'call-1',
  sessionId: 'ses-1',
  seq: 1,
  kind: 'tool',
  name: 'list_notes',
  input: {},
  state: 'succeeded',
  output: [{ id: 1 }],
  error: null,
  changes: {},
  queuedAt: '2026-01-01T00:00:00.000Z',
  claimedAt: '2026-01-01T00:00:00.001Z',
  answeredAt: '2026-01-01T00:00:00.012Z',
};

describe('svc', () => {
  let server: Server | undefined;
  afterEach(async () => {
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
    server = undefined;
  });

  /** Serves the answers in order, the last one again and again, and runs a command line on it. */
  const run = async (words: string, ...answers: Told[]) => {
    const asked: Asked[] = [];
    server = createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      const body = await readBody(request);
      asked.push({ method, url, authorization: headers.authorization ?? '', body });
      const answer = answers[Math.min(asked.length, answers.length) - 1];
      response.writeHead(answer?.status ?? 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer?.body));
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const context = testContext({
      env: {
        SVC_URL: `http://127.0.0.1:${port}`,
        SVC_PUBLIC_KEY: 'pk',
        SVC_SECRET_KEY: 'sk',
        SVC_POOL_TOKEN: 'pt',
      },
    });
    const status = await runCommandLine(words.split(' '), context);
    server.closeAllConnections();
    return { status, asked, ...context.written(), resultStatus: context.status() };
  };

  const offline = async (words: string) => {
    const context = testContext();
    const status = await runCommandLine(words === '' ? [] : words.split(' '), context);
    return { status, ...context.written() };
  };

  it('explains itself with an example everywhere', async () => {
    for (const words of [
      'up',
      'demo',
      'admin pools',
      'admin hosts',
      'admin doctor',
      'pools check',
      ...['create', 'list', 'describe', 'templates', 'requests'].map((name) => `worlds ${name}`),
      ...['open', 'list', 'show', 'call', 'state', 'seed', 'reset', 'requests', 'grade'].map(
        (name) => `worlds session ${name}`,
      ),
      ...['pin', 'unpin', 'close'].map((name) => `worlds session ${name}`),
    ]) {
      const { status, out } = await offline(`${words} --help`);
      expect(status, words).toBe(0);
      expect(out, words).toMatch(
        new RegExp(`Usage: svc ${words}[^]*Examples?:\\n  \\$ svc ${words}`),
      );
    }
    expect((await offline('--help')).status).toBe(0);
  });

  it.each([
    ['', 'Usage: svc'],
    ['worlds', 'Usage: svc worlds'],
    ['wrlds', "unknown command 'wrlds'"],
    ['worlds list --wide', "unknown option '--wide'"],
    ['worlds create x', "required option '--from <source>' not specified"],
    ['worlds session open', 'name a world, or a version with --version-id'],
    ['worlds session open x --tier gold', 'Allowed choices are standard, premium'],
    ['worlds session open x --clock-mode still', 'Allowed choices are real, frozen, stepped'],
    ['worlds session open x --seed 1.5', 'It is not a whole number from 0'],
    ['worlds session open x --wait soon', 'It is not a number from 0 to 3600'],
    ['worlds session open x -t a --task-file b', 'give --task or --task-file, not both'],
    ['worlds session state x --limit 3', '--where, --limit and --offset need --entity'],
  ])('ends "svc %s" with status 2', async (words, text) => {
    const { status, err } = await offline(words);
    expect(status).toBe(2);
    expect(err).toContain(text);
  });

  it('says which release it is', async () => {
    expect(await offline('--version')).toMatchObject({
      status: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it('says on one line that it knows no service, with the way out', async () => {
    const { status, err } = await offline('worlds list');
    expect(status).toBe(1);
    expect(err).toMatch(/^error: no credentials: .*\nhint: start a service with "svc up"/);
  });

  it('says on one line that the service does not answer, and where its address is from', async () => {
    const env = { SVC_URL: 'http://127.0.0.1:1', SVC_PUBLIC_KEY: 'pk' };
    const context = testContext({ env });
    expect(await runCommandLine(['worlds', 'list'], context)).toBe(1);
    expect(context.written().err).toMatch(
      /^error: no answer from .*\nhint: is the service running .* the address is from SVC_URL\n/,
    );
  });

  it('prints a session for a person, or as the API gave it', async () => {
    const text = await run('worlds session show ses-1', { body: session });
    expect(text.status).toBe(0);
    expect(text.out).toContain('state    READY\nready    after 21 ms');
    expect(text.out).toMatch(/\n\n {2}Do it\.\n$/);
    expect(text.asked[0]?.authorization).toBe(`Basic ${btoa('pk:sk')}`);
    server?.close();
    const json = await run('worlds session show ses-1 --json', { body: session });
    expect(JSON.parse(json.out)).toEqual(session);
  });

  it('opens a session and waits until it is ready', async () => {
    const opening = { ...session, state: 'PROVISIONING', ready: false, readyAt: null };
    const { status, asked, out } = await run(
      'worlds session open notes -t finish --reuse-warm --surface api --size large --isolation kata',
      { status: 201, body: opening },
      { body: opening },
      { body: session },
    );
    expect(status).toBe(0);
    expect(out).toContain('READY');
    expect(asked.map(({ method, url }) => `${method} ${url.replace(/=[\d.]+$/, '=N')}`)).toEqual([
      'POST /api/public/world-sessions?wait=N',
      'GET /api/public/world-sessions/ses-1?wait=N',
      'GET /api/public/world-sessions/ses-1?wait=N',
    ]);
    expect(asked[0]?.body).toEqual({
      slug: 'notes',
      task: 'finish',
      reuseWarm: true,
      surfaces: ['api'],
      size: 'large',
      isolation: 'kata',
    });
  });

  it('shows an operator the pools, by the pool token alone', async () => {
    const pool = {
      installation: 'one',
      name: 'spot',
      tier: 'standard',
      isolation: 'container',
      size: 'standard',
      minimum: 1,
      maximum: 9,
      target: 4,
      held: 'no node has room',
      worlds: [
        { world: 'acme/support/mail', hosts: 2 },
        { world: 'acme/support/mial', hosts: 1 },
      ],
      isLed: true,
      unknownWorlds: ['acme/support/mial'],
      hosts: { starting: 1, warm: 3, assigned: 5, recycling: 1, draining: 0 },
      fresh: 1,
    };
    const { status, out, asked } = await run('admin pools', {
      body: { pools: [pool], waitingSessions: 0, longestWaitMs: 0 },
    });
    expect(status).toBe(0);
    expect(asked).toMatchObject([{ url: '/api/admin/pools', authorization: 'Bearer pt' }]);
    expect(out).toBe(
      `POOL  TIER      ISOLATION  SIZE      TARGET  FRESH  LOADED  BUSY  COMING  GOING  MAX
spot  standard  container  standard  4       1      2       5     2       0      9

spot: launches none: no node has room
spot: keeps acme/support/mail loaded on 2
spot: is to keep acme/support/mial loaded, which nobody has made
`,
    );
  });

  it('answers at once with --no-wait', async () => {
    const opening = { ...session, state: 'PROVISIONING', ready: false, readyAt: null };
    const { status, asked } = await run('worlds session open notes --no-wait', {
      status: 201,
      body: opening,
    });
    expect(status).toBe(0);
    expect(asked).toHaveLength(1);
  });

  it('opens one on a clock and a seed, and shows them', async () => {
    const { out, asked } = await run(
      'worlds session open notes --clock-at 2026-03-01 --clock-mode stepped --clock-rate 60 --seed 7',
      { status: 201, body: session },
    );
    expect(asked[0]?.body).toEqual({
      slug: 'notes',
      clock: { at: '2026-03-01', mode: 'stepped', rate: 60 },
      seed: 7,
    });
    expect(out).toMatch(/clock +stepped by 60 s from 2026-03-01T00:00:00.000Z\nseed +7\n/);
  });

  it('fails when the session does', async () => {
    const error = { code: 'load_failed', message: 'no such file' };
    const failed = { ...session, state: 'FAILED', ready: false, error };
    const { status, err } = await run('worlds session open notes', { status: 201, body: failed });
    expect(status).toBe(1);
    expect(err).toBe('error: session ses-1 is FAILED: no such file [load_failed]\n');
  });

  it('says why no session was opened, and when to try again', async () => {
    const message = 'the quota of opens is used up';
    const body = { error: 'exhausted', message, quota: 'opens_per_minute', retryAfterMs: 12_345 };
    const answer = { status: 429, body };
    const { status, err } = await run('worlds session open notes', answer);
    expect([status, err]).toEqual([1, `error: ${message}\nhint: try again in 13 s\n`]);
    server?.close();
    const json = await run('worlds session open notes --json', answer);
    expect(JSON.parse(json.err)).toEqual({
      error: { code: 'exhausted', message, hint: 'try again in 13 s' },
    });
  });

  it('prints the output of a tool alone, and the rest beside it', async () => {
    const { status, out, err, asked } = await run('worlds session call ses-1 list_notes', {
      body: call,
    });
    expect(status).toBe(0);
    expect(JSON.parse(out)).toEqual([{ id: 1 }]);
    expect(err).toBe('no rows changed · 12 ms\n');
    expect(asked[0]?.body).toEqual({ kind: 'tool', name: 'list_notes', input: {} });
  });

  it('waits for a call that takes longer than one request', async () => {
    const queued = { ...call, state: 'queued', output: null, answeredAt: null };
    const { out, asked } = await run(
      'worlds session call ses-1 list_notes',
      { status: 202, body: queued },
      { body: { ...queued, state: 'claimed' } },
      { body: call },
    );
    expect(JSON.parse(out)).toEqual([{ id: 1 }]);
    expect(asked.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
  });

  it('tells why a tool failed, with its trace', async () => {
    const error = {
      code: 'raised',
      message: 'KeyError: 7',
      details: { trace: 'tools.py:12 in list_notes' },
    };
    const { status, err } = await run('worlds session call ses-1 list_notes', {
      body: { ...call, state: 'failed', error },
    });
    expect(status).toBe(1);
    expect(err).toBe('error: list_notes failed: KeyError: 7 [raised]\ntools.py:12 in list_notes\n');
  });

  it('names every place that does not fit a tool', async () => {
    const problems = [
      { path: '/a', message: 'must be string, is number 5' },
      { path: '/b', message: 'is missing' },
    ];
    const message = "the input does not fit the tool's schema: /a must be string (and 1 more)";
    const error = { code: 'invalid_input', message, path: '/a', details: { problems } };
    const { err } = await run('worlds session call ses-1 list_notes', {
      body: { ...call, state: 'failed', error },
    });
    expect(err).toBe(
      `error: list_notes failed: ${message} [invalid_input]\n  /a must be string, is number 5\n  /b is missing\n`,
    );
  });

  const request = {
    sessionId: 'ses-1',
    id: 7,
    at: '2026-01-01T10:11:12.345Z',
    via: 'api',
    operation: 'get_note',
    method: 'GET',
    path: '/notes/1',
    status: 200,
    request: null,
    response: null,
    durationMs: 1.25,
    changes: {},
    rows: [],
    callId: null,
  };

  it('shows the requests of a session that lives from its host', async () => {
    const { sessionId: _, durationMs, callId, ...plain } = request;
    const row = { ...plain, duration_ms: durationMs, call_id: callId };
    const words = 'worlds session requests ses-1 --via api --status 200';
    const { out, asked } = await run(
      words,
      { body: session },
      { body: { ...call, kind: 'state', output: { rows: [row], total: 2 } } },
    );
    expect(asked[1]?.body).toMatchObject({
      kind: 'state',
      input: { entity: 'svc_requests', limit: 1_000, where: { via: 'api', status: 200 } },
    });
    expect(out).toMatch(/10:11:12.345 +api +get_note +GET \/notes\/1 +200 +1.3 ms +-\n1 of 2/);
    server?.close();
    const json = await run(
      `${words} --json`,
      { body: session },
      { body: { ...call, kind: 'state', output: { rows: [row], total: 1 } } },
    );
    expect(JSON.parse(json.out)).toEqual({ data: [request], totalItems: 1 });
  });

  it('shows the requests of a session that is over, page after page', async () => {
    const page = (number: number) => ({
      body: {
        data: [{ ...request, id: number }],
        meta: { page: number, limit: 100, totalItems: 2, totalPages: 2 },
      },
    });
    const over = { body: { ...session, state: 'CLOSED' } };
    const { out, asked } = await run(
      'worlds session requests ses-1 --operation get_note --json',
      over,
      page(1),
      page(2),
    );
    expect(JSON.parse(out).data.map(({ id }: { id: number }) => id)).toEqual([1, 2]);
    expect(asked[2]?.url).toBe(
      '/api/public/world-sessions/ses-1/requests?operation=get_note&page=2&limit=100',
    );
  });

  it('falls back on what was kept when a session ends under the question', async () => {
    const { out, status } = await run(
      'worlds session requests ses-1',
      { body: session },
      { status: 409, body: { message: 'ses-1 is CLOSED', error: 'conflict' } },
      { body: { data: [], meta: { page: 1, limit: 100, totalItems: 0, totalPages: 0 } } },
    );
    expect([status, out]).toEqual([0, 'no requests\n']);
  });

  it('shows the requests to all sessions of a world', async () => {
    const meta = { page: 1, limit: 2, totalItems: 3, totalPages: 2 };
    const { out, asked } = await run(
      'worlds requests notes --via api --after 2026-01-01 --limit 2',
      { body: { data: [request], meta } },
    );
    expect(asked[0]?.url).toBe(
      '/api/public/worlds/notes/requests?via=api&after=2026-01-01&page=1&limit=2',
    );
    expect(out).toMatch(/AT +SESSION +VIA .*\n2026-01-01 10:11:12 +ses-1 +api +get_note/);
    expect(out).toContain('page 1 of 2, 3 in all');
  });

  const grade = {
    ...call,
    kind: 'grade',
    name: null,
    output: {
      passed: false,
      checks: [
        { name: 'kept', passed: true, expected: 1, found: 1, detail: null },
        { name: 'done', passed: false, expected: 'one row', found: 'none', detail: 'nearest: 3' },
      ],
    },
  };

  it('takes a grade that fails for a result, unless told otherwise', async () => {
    const plain = await run('worlds session grade ses-1', { body: grade });
    expect(plain).toMatchObject({ status: 0, resultStatus: 0 });
    expect(plain.out).toBe(
      '✓ kept\n✗ done\n    expected one row\n    found    none\n    nearest: 3\nfailed: 1 of 2 checks\n',
    );
    server?.close();
    const strict = await run('worlds session grade ses-1 --exit-code', { body: grade });
    expect(strict).toMatchObject({ status: 0, resultStatus: 1 });
  });

  it('shows the fields at fault, and the problems of files', async () => {
    const fields = await run('worlds session show ses-1', {
      status: 400,
      body: {
        message: 'the request is not valid',
        error: [{ path: ['a', 'b'], message: 'is odd' }],
      },
    });
    expect(fields.err).toBe('error: the request is not valid\n  a.b: is odd\n');
    server?.close();
    const problem = {
      file: 'connector.toml',
      pointer: '/operations/0',
      code: 'unknown_key',
      message: 'unknown key "pth"',
      hint: 'did you mean "path"?',
      line: 12,
      column: 1,
    };
    const problems = await run('worlds create notes --from template', {
      status: 400,
      body: { message: 'the world does not compile', error: 'invalid', problems: [problem] },
    });
    expect(problems.err).toBe(
      [
        'error: the world does not compile',
        '',
        'connector.toml:12:1 unknown_key: unknown key "pth"',
        '      = did you mean "path"?',
        '',
      ].join('\n'),
    );
  });

  it('tells a user without the secret key what is missing', async () => {
    const { err } = await run('worlds session close ses-1', {
      status: 403,
      body: { message: 'the public key may only read', error: 'forbidden' },
    });
    expect(err).toContain('hint: this needs the secret key');
  });

  it('lists in aligned columns, and says when there is more', async () => {
    const meta = { page: 1, limit: 1, totalItems: 2, totalPages: 2 };
    const { out } = await run('worlds session list --limit 1', { body: { data: [session], meta } });
    const [head, line, more] = out.split('\n');
    expect(head).toMatch(/^SESSION {2}WORLD {2}STATE {2}SIZE {6}TASK {4}PINNED {2}CREATED$/);
    expect(line).toMatch(/^ses-1 {4}notes {2}READY {2}standard {2}finish {2}- {7}\d+ d ago$/);
    expect(more).toBe('page 1 of 2, 2 in all; --page 2 shows the next');
  });
});
