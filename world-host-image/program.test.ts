/**
 * Tests a host over several sessions: it loads worlds, runs calls, is recycled, and loads worlds ahead of a session.
 */
import { describe, expect, it } from 'vitest';
import { limits } from '#domain/limits.ts';
import {
  assignment,
  issues,
  openOn,
  startBench,
  task,
  version,
} from '#test/support/host/host-bench.ts';

describe('a session', () => {
  it('is loaded from its blobs, seeded, and reported ready with the digest of its base', async () => {
    const { control } = await startBench();
    await openOn(control, { task });
    const ready = await control.message('reportReady');
    expect(ready.body).toEqual({
      generation: 1,
      hold: limits.pollMs / 1_000,
      holding: { bundle: version.bundle, stateDigest: version.stateDigest },
      steps: [{ name: 'load', agoMs: expect.any(Number), tookMs: expect.any(Number) }],
    });
    const state = await control.call('state');
    expect(state.output).toMatchObject({ counts: { users: 3, repos: 2, issues: 3 } });
    expect(state.output).not.toMatchObject({ digest: version.stateDigest });
  });

  it('fetches no blob that came with the assignment', async () => {
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

  it('runs tools of every kind of implementation', async () => {
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

  it('is unchanged by a tool that fails, and the reason is returned', async () => {
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

  it('can be seeded, reset and graded, and its state can be read', async () => {
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

  it('can be graded by Python source, which can read but not write', async () => {
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

  it('refuses to grade a task without a grader, and refuses invalid calls', async () => {
    const { control } = await startBench();
    await openOn(control);
    expect((await control.call('grade')).error).toMatchObject({ code: 'no_grader' });
    for (const [kind, input] of [
      ['state', { entity: 'wikis' }],
      ['state', { where: {} }],
      ['state', { entity: 'users', limit: 100_000 }],
      ['seed', { rows: [] }],
      ['seed', { rows: {}, mode: 'upsert' }],
      ['reset', { deep: true }],
    ] as const) {
      expect((await control.call(kind, undefined, input)).error).toBeDefined();
    }
    expect((await control.call('close')).output).toEqual({});
  });
});

describe('recycling', () => {
  it('proves that the host is back in the base state, whatever was done, and the next session is served without fetching blobs', async () => {
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

  it('makes a version available, reports its digest, and lets a session start without fetching blobs again', async () => {
    const { control } = await startBench();
    const { address } = (await control.message('reportWarm')).body;
    control.load(order);
    const loaded = await control.message('reportWarm', 2);
    expect(loaded.body).toMatchObject({
      generation: 1,
      holding: { bundle: version.bundle, stateDigest: version.stateDigest },
    });
    expect((await fetch(`${address}/users`)).status).toBe(503);
    control.assign(assignment({ generation: 2 }));
    await control.message('reportReady');
    await control.call('tool', 'close_all', { repo: 'engine' });
    control.close(true, 'recycle');
    const recycled = await control.message('reportWarm', 3);
    expect(recycled.body).toMatchObject({ generation: 3, holding: loaded.body.holding });
    expect(control.received.filter(({ operation }) => operation === 'getBlob')).toHaveLength(2);
  });

  it('reports the reason if it fails, and the host ends', async () => {
    const { control, host } = await startBench();
    await control.message('reportWarm');
    control.load({ ...order, snapshot: `sha256:${'0'.repeat(64)}` });
    const { body } = await control.message('reportUnloaded');
    expect(body).toEqual({ generation: 1, message: "the world's snapshot is lost: no such blob" });
    await host.ended;
  });
});
