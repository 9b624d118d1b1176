/**
 * A whole world host, with real workers for user code, against a stand-in for the control plane: what
 * it serves, and what it says when. How the real control plane takes it is tested in `test/`.
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { machineClock } from '#domain/world-clock.ts';
import { until } from '#runtime/pause.ts';
import type { Running } from '#runtime/run.ts';
import { Secret } from '#runtime/secret.ts';
import { sampleVersion } from '#test/support/sample-world.ts';
import { type StandInControl, startStandInControl } from '#test/support/stand-in-control.ts';
import type { Assignment } from '#wire/host-api/operations.ts';
import { codeDirectory, type HostConfig } from './config.ts';
import { startHost } from './program.ts';
import { startUserCode } from './usercode/runner.ts';

const version = sampleVersion();
const issues = '/repos/ann/engine/issues';

type Bench = {
  control: StandInControl;
  host: Running;
  workDir: string;
  /** Resolves when the host has logged this message. */
  logged(message: string): Promise<unknown>;
};

let stopBench: () => Promise<void> = async () => undefined;

const startBench = async (): Promise<Bench> => {
  const control = await startStandInControl(version.blobs);
  const folder = await mkdtemp(join(tmpdir(), 'svc-host-test-'));
  const workDir = join(folder, 'work');
  const lines: string[] = [];
  const config: HostConfig = {
    controlUrl: control.url,
    hostId: 'hst-test',
    generation: 0,
    token: new Secret('host-token'),
    listen: { host: '127.0.0.1', port: 0 },
    reportAddress: true,
    workDir,
    python: 'python3',
    searchPath: '',
    logLevel: 'silent',
  };
  const log = pino({ level: 'debug' }, { write: (line) => lines.push(line) });
  const userCode = startUserCode({ python: 'python3', workDir: codeDirectory(config), log });
  const host = await startHost({ config, log, userCode });
  stopBench = async () => {
    await host.stop();
    await control.stop();
    await rm(folder, { recursive: true });
  };
  const logged = (message: string) =>
    until(() => lines.find((line) => line.includes(message)), {
      timeoutMs: 5_000,
      what: `"${message}" in the log`,
    });
  return { control, host, workDir, logged };
};

afterEach(() => stopBench());

const assignment = (parts: Partial<Assignment> = {}): Assignment => ({
  sessionId: 'ses-1',
  generation: 1,
  sessionToken: 'st-one',
  worldSlug: 'sample',
  bundle: version.bundle,
  snapshot: version.snapshot,
  blobs: {},
  task: null,
  surfaces: ['api'],
  clock: machineClock,
  seed: null,
  ...parts,
});

const task: Assignment['task'] = {
  name: 'close it',
  seed: { rows: { users: [{ login: 'cy', id: 3 }] } },
  grader: {
    kind: 'assertions',
    checks: [{ name: 'closed', entity: 'issues', where: { number: 2, state: 'closed' } }],
  },
};

/** Opens a session and gives the means to use its API. */
const openOn = async (
  control: StandInControl,
  parts: Partial<Assignment> = {},
  nth = 1,
): Promise<(method: string, path: string, body?: unknown, token?: string) => Promise<Response>> => {
  const warm = await control.message('reportWarm', nth);
  control.assign(assignment(parts));
  await control.message('reportReady', nth);
  return (method, path, body, token = parts.sessionToken ?? 'st-one') =>
    fetch(`${warm.body.address}${path}`, {
      method,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
};

describe('a session', () => {
  it('is loaded from its blobs, seeded, and reported ready with the digest of its base', async () => {
    const { control } = await startBench();
    await openOn(control, { task });
    const ready = await control.message('reportReady');
    expect(ready.body).toEqual({
      generation: 1,
      holding: { bundle: version.bundle, stateDigest: version.stateDigest },
      steps: [{ name: 'load', agoMs: expect.any(Number), tookMs: expect.any(Number) }],
    });
    const state = await control.call('state');
    expect(state.output).toMatchObject({ counts: { users: 3, repos: 2, issues: 3 } });
    expect(state.output).not.toMatchObject({ digest: version.stateDigest });
  });

  it('fetches nothing that came with the assignment', async () => {
    const { control } = await startBench();
    const along = [...version.blobs].map(([digest, bytes]) => [
      digest,
      Buffer.from(bytes).toString('base64'),
    ]);
    await openOn(control, { task, blobs: Object.fromEntries(along) });
    const state = await control.call('state');
    expect(state.output).toMatchObject({ counts: { users: 3, repos: 2, issues: 3 } });
    expect(control.received.filter(({ operation }) => operation === 'getBlob')).toEqual([]);
  });

  it('answers tools of every kind of implementation', async () => {
    const { control } = await startBench();
    await openOn(control);
    const listed = await control.call('tool', 'list_issues', { repo: 'engine', limit: 1 });
    expect(listed.output).toMatchObject([{ id: 10 }]);
    expect(await control.call('tool', 'count_open', { repo: 'engine' })).toEqual({
      output: 2,
      changes: {},
    });
    expect(await control.call('tool', 'close_all', { repo: 'engine' })).toEqual({
      output: 2,
      changes: { issues: { inserted: 0, updated: 2, deleted: 0 } },
    });
    const byRoute = { owner: 'ann', repo: 'engine', number: 1, title: 'By another door' };
    expect((await control.call('tool', 'update_issue', byRoute)).output).toMatchObject({
      title: 'By another door',
      state: 'closed',
    });
  });

  it('changes nothing when a tool fails, and says why', async () => {
    const { control } = await startBench();
    await openOn(control);
    const before = (await control.call('state')).output;
    const failing: [string, unknown, unknown][] = [
      ['nope', {}, { code: 'unknown_tool' }],
      ['close_all', { repo: 5 }, { code: 'invalid_input', path: '/repo' }],
      ['close_all', { repo: 'site' }, { code: 'failed', message: 'nothing is open in site' }],
      ['lie', { repo: 'x' }, { code: 'invalid_output' }],
      ['create_users', { login: 'ann', id: 9 }, { code: 'duplicate', path: '/login' }],
      ['delete_users', { login: 'ann' }, { code: 'referenced' }],
      ['get_issues', { id: 404 }, { code: 'not_found' }],
      ['list_issues', { color: 'red' }, { code: 'invalid_input', path: '/color' }],
      [
        'update_issue',
        { owner: 'ann', repo: 'engine', number: 9 },
        { code: 'not_found', details: { body: { message: 'Not Found' } } },
      ],
    ];
    for (const [name, input, error] of failing) {
      const answer = await control.call('tool', name, input);
      expect(answer).toMatchObject({ error, changes: {} });
    }
    expect((await control.call('state')).output).toEqual(before);
  });

  it('seeds, resets, grades and tells its state', async () => {
    const { control } = await startBench();
    await openOn(control, { task });
    const rows = { users: [{ login: 'dee', id: 4 }] };
    expect(await control.call('seed', undefined, { rows })).toMatchObject({
      output: { counts: { users: 4 } },
      changes: { users: { inserted: 1 } },
    });
    const twice = {
      rows: {
        users: [
          { login: 'eve', id: 5 },
          { login: 'dee', id: 6 },
        ],
      },
    };
    expect((await control.call('seed', undefined, twice)).error).toMatchObject({
      code: 'duplicate',
      details: { entity: 'users', index: 1 },
    });
    const failed = await control.call('grade');
    expect(failed.output).toMatchObject({ passed: false, checks: [{ name: 'closed' }] });
    expect(JSON.stringify(failed.output)).toContain('state is \\"open\\"');
    await control.call('tool', 'update_issues', { id: 11, state: 'closed' });
    expect((await control.call('grade')).output).toMatchObject({ passed: true });
    const page = await control.call('state', undefined, {
      entity: 'svc_requests',
      where: { via: 'tool' },
    });
    expect(page.output).toMatchObject({
      total: 1,
      rows: [{ operation: 'update_issues', call_id: 'call-4', status: null }],
    });
    expect((await control.call('reset')).output).toMatchObject({ counts: { users: 3 } });
    expect((await control.call('grade')).output).toMatchObject({ passed: false });
  });

  it('grades by Python source, which reads and cannot write', async () => {
    const { control } = await startBench();
    const source = `def verify(ctx):
    ctx.check("two users", len(ctx.query("users")) == 2)
`;
    await openOn(control, { task: { grader: { kind: 'python', source } } });
    expect((await control.call('grade')).output).toMatchObject({
      passed: true,
      checks: [{ name: 'two users', passed: true }],
    });
  });

  it('fails a grade without a grader, and calls that make no sense', async () => {
    const { control } = await startBench();
    await openOn(control);
    expect((await control.call('grade')).error).toMatchObject({ code: 'no_grader' });
    for (const [kind, input] of [
      ['state', { entity: 'wikis' }],
      ['state', { where: {} }],
      ['state', { entity: 'users', limit: 100_000 }],
      ['seed', { rows: [] }],
      ['seed', { rows: {}, mode: 'merge' }],
      ['reset', { deep: true }],
    ] as const) {
      expect((await control.call(kind, undefined, input)).error).toBeDefined();
    }
    expect((await control.call('close')).output).toEqual({});
  });
});

describe('the API surface', () => {
  it('serves routes in the vendor’s words and notes every request', async () => {
    const { control } = await startBench();
    const api = await openOn(control);
    expect((await api('GET', issues, undefined, 'wrong')).status).toBe(401);
    const { body: warm } = await control.message('reportWarm');
    await fetch(`${warm.address}/users`, { headers: { 'x-visitor': 'st-one' } });
    const listed = await api('GET', `${issues}?state=open&number=2&number=1&unknown=1`);
    expect(listed.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await listed.json()).toMatchObject([{ id: 10 }, { id: 11 }]);
    expect(await (await api('GET', `${issues}/2`)).json()).toMatchObject({ id: 11 });
    const missing = await api('GET', `${issues}/77`);
    expect([missing.status, await missing.json()]).toEqual([404, { message: 'Not Found' }]);
    const created = await api('POST', issues, {
      title: 'New',
      assignee: { login: 'bob' },
      ignored: 1,
    });
    expect([created.status, await created.json()]).toEqual([
      201,
      {
        state: 'open',
        labels: [],
        title: 'New',
        assignee: 'bob',
        owner: 'ann',
        repo: 'engine',
        id: 13,
        number: 3,
      },
    ]);
    expect((await api('DELETE', `${issues}/3`)).status).toBe(204);
    const users = await (await api('GET', '/users')).json();
    expect(users).toMatchObject({ users: [{ id: 1 }, { id: 2 }] });
    const { output } = await control.call('state', undefined, { entity: 'svc_requests' });
    const { rows } = output as { rows: Record<string, unknown>[] };
    expect(rows.map(({ method, status }) => `${method} ${status}`)).toEqual([
      'GET 401',
      'GET 401',
      'GET 200',
      'GET 200',
      'GET 404',
      'POST 201',
      'DELETE 204',
      'GET 200',
    ]);
    expect(rows[5]).toMatchObject({
      via: 'api',
      operation: 'create_issue',
      request: { headers: { authorization: 'token ***' } },
      changes: { issues: { inserted: 1 } },
      rows: [{ entity: 'issues', key: { id: 13 }, kind: 'inserted' }],
    });
    expect(JSON.stringify(rows)).not.toContain('st-one');
  });

  it('runs handlers in one transaction with their request', async () => {
    const { control } = await startBench();
    const api = await openOn(control);
    const added = await api('POST', `${issues}/1/labels`, { labels: ['later'] });
    expect([added.status, await added.json()]).toEqual([200, ['bug', 'p1', 'later']]);
    const failed = await api('POST', `${issues}/0/labels`, { labels: [] });
    expect([failed.status, await failed.json()]).toEqual([418, { message: 'no such issue' }]);
    expect((await api('POST', `${issues}/666/labels`, { labels: [] })).status).toBe(500);
    const users = await control.call('tool', 'list_issues', { assignee: 'ghost' });
    expect(users.output).toEqual([]);
    expect((await control.call('state')).output).toMatchObject({ counts: { users: 2 } });
    const where = { status: 500 };
    const page = await control.call('state', undefined, { entity: 'svc_requests', where });
    expect(JSON.stringify(page.output)).toContain('broken handler');
  });

  it('refuses what is no request of the vendor', async () => {
    const { control } = await startBench();
    const api = await openOn(control);
    const put = await api('PUT', issues);
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS, POST']);
    expect((await api('GET', '/nowhere')).status).toBe(404);
    expect((await api('GET', '/users/%E0%A4%A')).status).toBe(400);
    expect((await api('POST', issues, ['a list'])).status).toBe(422);
    expect((await api('POST', issues, { title: 5 })).status).toBe(422);
    expect((await api('DELETE', '/users/ann')).status).toBe(422);
    const { body: address } = await control.message('reportWarm');
    const raw = await fetch(`${address.address}${issues}`, {
      method: 'POST',
      headers: { authorization: 'Bearer st-one' },
      body: '{broken',
    });
    expect([raw.status, await raw.json()]).toEqual([400, { message: 'The body is not JSON' }]);
    const large = await api('POST', issues, { title: 'x'.repeat(2 * 1024 * 1024) });
    expect(large.status).toBe(413);
    const head = await api('HEAD', '/users');
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('content-length')).not.toBe('0');
  });

  it('says so before a session is served and after its end', async () => {
    const { control, host } = await startBench();
    const { body } = await control.message('reportWarm');
    expect((await fetch(`${body.address}/users`)).status).toBe(503);
    const api = await openOn(control);
    control.close(true, 'recycle');
    await control.message('reportWarm', 2);
    expect((await api('GET', '/users')).status).toBe(410);
    control.drain();
    await host.ended;
  });
});

describe('recycling', () => {
  it('proves the base state, whatever was done, and serves again without fetching', async () => {
    const { control } = await startBench();
    const first = await openOn(control, { task });
    await first('POST', issues, { title: 'left behind' });
    await control.call('tool', 'close_all', { repo: 'engine' });
    control.close(true, 'recycle');
    const warm = await control.message('reportWarm', 2);
    expect(warm.body).toMatchObject({
      generation: 2,
      holding: { bundle: version.bundle, stateDigest: version.stateDigest },
    });
    const second = await openOn(
      control,
      { sessionId: 'ses-2', generation: 3, sessionToken: 'st-two' },
      2,
    );
    expect((await first('GET', '/users')).status).toBe(401);
    expect(await (await second('GET', issues)).json()).toHaveLength(2);
    const requests = await control.call('state', undefined, { entity: 'svc_requests' });
    expect(requests.output).toMatchObject({ total: 2 });
    expect((await control.call('tool', 'close_all', { repo: 'engine' })).output).toBe(2);
    expect(control.received.filter(({ operation }) => operation === 'getBlob')).toHaveLength(2);
  });
});

describe('loading ahead of a session', () => {
  const order = { generation: 1, bundle: version.bundle, snapshot: version.snapshot, blobs: {} };

  it('holds the version, tells its digest, and serves it without fetching again', async () => {
    const { control } = await startBench();
    await control.message('reportWarm');
    control.load(order);
    const loaded = await control.message('reportWarm', 2);
    expect(loaded.body).toMatchObject({
      generation: 1,
      holding: { bundle: version.bundle, stateDigest: version.stateDigest },
    });
    expect((await fetch(`${loaded.body.address}/users`)).status).toBe(503);
    control.assign(assignment({ generation: 2 }));
    await control.message('reportReady');
    await control.call('tool', 'close_all', { repo: 'engine' });
    control.close(true, 'recycle');
    const recycled = await control.message('reportWarm', 3);
    expect(recycled.body).toMatchObject({ generation: 3, holding: loaded.body.holding });
    expect(control.received.filter(({ operation }) => operation === 'getBlob')).toHaveLength(2);
  });

  it('tells why it cannot, and ends', async () => {
    const { control, host } = await startBench();
    await control.message('reportWarm');
    control.load({ ...order, snapshot: `sha256:${'0'.repeat(64)}` });
    const { body } = await control.message('reportUnloaded');
    expect(body).toEqual({ generation: 1, message: 'no such blob' });
    await host.ended;
  });
});

describe('the request ledger', () => {
  type Told = { entries: string[] };
  const entriesOf = (control: StandInControl) =>
    control.received
      .filter(({ operation }) => operation === 'deliverRequests')
      .flatMap(({ body }) => (body as Told).entries)
      .map((text) => JSON.parse(text) as Record<string, unknown>);

  it('goes to the control plane before the session is reported closed', async () => {
    const { control } = await startBench();
    const api = await openOn(control);
    await api('GET', '/users');
    await control.call('reset');
    await control.call('tool', 'close_all', { repo: 'engine' });
    control.close(false, 'exit');
    await control.message('reportClosed');
    const operations = control.received.map(({ operation }) => operation);
    expect(operations.lastIndexOf('deliverRequests')).toBeLessThan(
      operations.indexOf('reportClosed'),
    );
    expect(entriesOf(control)).toMatchObject([
      { id: 1, via: 'api', path: '/users', status: 200, rows: [] },
      { id: 2, via: 'session', operation: 'reset' },
      {
        id: 3,
        via: 'tool',
        operation: 'close_all',
        rows: [
          { entity: 'issues', key: { id: 10 }, kind: 'updated' },
          { entity: 'issues', key: { id: 11 }, kind: 'updated' },
        ],
      },
    ]);
  });

  it('goes there, too, when the host is told to stop, and again when it was not taken', async () => {
    const { control, host } = await startBench();
    const api = await openOn(control);
    control.fail('deliverRequests', 503, 2);
    await api('GET', '/users');
    await host.stop();
    expect(entriesOf(control)).toMatchObject([{ id: 1, path: '/users' }]);
  });
});

describe('the agent', () => {
  it('repeats the answer of a call that is handed out again, and runs it once', async () => {
    const { control } = await startBench();
    await openOn(control);
    const row = { login: 'new', id: 7 };
    const answer = await control.call('tool', 'create_users', row);
    control.repeat('call-1');
    await control.message('answerCall', 2);
    const [first, second] = control.received.filter(({ operation }) => operation === 'answerCall');
    expect(second?.body.answer).toEqual(first?.body.answer);
    expect(answer.error).toBeUndefined();
    expect((await control.call('state')).output).toMatchObject({ counts: { users: 3 } });
  });

  it('keeps an answer until the control plane takes it', async () => {
    const { control } = await startBench();
    await openOn(control);
    control.fail('answerCall', 503, 3);
    expect((await control.call('tool', 'count_open', { repo: 'site' })).output).toBe(0);
  });

  it('stops when its generation is refused', async () => {
    const { control, host, workDir } = await startBench();
    const api = await openOn(control);
    control.fail('pollCalls', 409, 1);
    await host.ended;
    expect((await api('GET', '/users')).status).toBe(410);
    await host.stop();
    expect(existsSync(workDir)).toBe(false);
  });

  it('reports a session that cannot be loaded, and stops', async () => {
    const { control, host } = await startBench();
    await control.message('reportWarm');
    control.assign(
      assignment({
        task: { seed: { rows: { repos: [{ owner: 'x', name: 'y', private: true }] } } },
      }),
    );
    expect((await control.message('reportFailed')).body).toMatchObject({
      code: 'seed_refused',
      message: expect.stringContaining('repos[0]/owner'),
    });
    await host.ended;
  });

  it('finishes the call under way when it is told to stop', async () => {
    const { control, host, logged } = await startBench();
    await openOn(control);
    const answer = control.call('tool', 'take_time', { repo: 'engine' });
    await logged('call begins');
    await host.stop();
    expect((await answer).output).toBe(3);
    const said = control.received.map(({ operation }) => operation);
    expect(said.lastIndexOf('answerCall')).toBeLessThan(said.indexOf('reportLeaving'));
  });

  it('asks for no further call when it is told to stop', async () => {
    const { control, host, logged } = await startBench();
    await openOn(control);
    const answer = control.call('tool', 'take_time', { repo: 'engine' });
    const next = control.enqueue('tool', 'create_users', { login: 'new', id: 7 });
    await logged('call begins');
    await host.stop();
    expect((await answer).output).toBe(3);
    expect(control.waiting()).toEqual([next]);
  });

  it('runs the call that a poll brings as the host is told to stop', async () => {
    const { control, host } = await startBench();
    await openOn(control);
    control.mute('pollCalls');
    const answer = control.call('tool', 'create_users', { login: 'first', id: 7 });
    await control.handed('call-1');
    const next = control.enqueue('tool', 'create_users', { login: 'second', id: 8 });
    await host.stop();
    expect((await answer).error).toBeUndefined();
    expect(control.waiting()).toEqual([next]);
  });

  it('runs the call that comes with an answer as the host is told to stop', async () => {
    const { control, host } = await startBench();
    await openOn(control);
    control.mute('answerCall');
    const answers = [
      control.call('tool', 'create_users', { login: 'first', id: 7 }),
      control.call('tool', 'create_users', { login: 'second', id: 8 }),
    ];
    await control.handed('call-2');
    await host.stop();
    for (const { error } of await Promise.all(answers)) expect(error).toBeUndefined();
  });

  it('says goodbye only when it is taken away', async () => {
    const { control, host } = await startBench();
    await control.message('reportWarm');
    control.drain();
    await host.ended;
    await host.stop();
    expect(control.received.map(({ operation }) => operation)).not.toContain('reportLeaving');
  });

  it('stops though nobody hears its goodbye', async () => {
    const { control, host, logged } = await startBench();
    await control.message('reportWarm');
    control.fail('reportLeaving', 404, 1);
    await host.stop();
    await logged('nobody heard that this host goes');
  });
});
