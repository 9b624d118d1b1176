/** Tests test runs of worlds: they are requested, run in a session, stored, and shown with versions. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { reap, reportGone } from '#wire/pool-api/operations.ts';
import {
  closeSession,
  createWorld,
  getSession,
  getTestRun,
  getVersion,
  getWorld,
  importData,
  listSessions,
  listTestRuns,
  listVersions,
  openSession,
  runTests,
} from '#wire/public-api/operations.ts';
import { startTestControl } from '../../support/control/control.ts';
import { clearPool, type PlayedHost, warmHost } from '../../support/control/host.ts';
import {
  createNotes,
  type OwnControl,
  startOwnControl,
} from '../../support/control/own-control.ts';
import { changed, push } from '../../support/control/pushes.ts';
import { addNeighbour, type Neighbour } from '../../support/control/second-project.ts';
import { encodeTree, environmentToml, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;
let neighbour: Neighbour;
const params = { slug: 'notes' };

beforeAll(async () => {
  control = await startOwnControl();
  neighbour = await addNeighbour(control);
  await createNotes(control);
});
afterAll(() => control.stop());
afterEach(() => clearPool(control));

const start = async (slug = 'notes', key?: string) =>
  (
    await control.send(runTests, {
      params: { slug },
      body: { wait: false },
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    })
  ).body;

const read = async (runId: string, wait = 0) =>
  (await control.read(getTestRun, { params: { slug: 'notes', runId }, query: { wait } })).body;

/** Returns the tree with this README, and with tests that run on each push. */
const pushed = (readme: string) =>
  changed(notesWorld(), {
    'README.md': readme,
    'svc-env.toml': `${environmentToml}\n[actions]\non_push = ["tests"]\n`,
  });

const report = { passed: true, summary: { total: 2, passed: 2 }, tests: [] };

/** Serves the session of the next test run and returns its call. */
const takeCall = async (host: PlayedHost) => {
  await host.poll();
  const { call } = await host.ready();
  return call ?? (await host.calls()).call;
};

const answerNext = async (output: unknown): Promise<PlayedHost> => {
  const host = await warmHost(control);
  const call = await takeCall(host);
  await host.answer(call?.id ?? '', { output });
  return host;
};

describe('a test run', () => {
  it('is a session of the version with one call, and its report is stored', async () => {
    const run = await start();
    expect(run).toMatchObject({
      runId: expect.stringMatching(/^run-/),
      slug: 'notes',
      number: 1,
      origin: 'api',
      author: control.publicKey,
      report: null,
    });
    const host = await warmHost(control);
    expect(await takeCall(host)).toMatchObject({ kind: 'test', input: { files: {} } });
    expect(await read(run.runId)).toMatchObject({ state: 'running', outcome: null });
    await host.answer((await control.sql<{ id: string }>('select id from calls'))[0]?.id ?? '', {
      output: report,
    });
    const ended = await read(run.runId, 10);
    expect(ended).toMatchObject({
      state: 'finished',
      outcome: 'passed',
      summary: { total: 2, passed: 2 },
      error: null,
      report,
    });
    const session = await control.read(getSession, {
      params: { sessionId: ended.sessionId ?? '' },
      query: {},
    });
    expect(session.body.versionId).toBe(run.versionId);
  });

  it('has its session closed by the reaper if the run ended without closing it', async () => {
    const run = await start();
    const host = await warmHost(control);
    const call = await takeCall(host);
    await control.sql(
      `update world_runs set state = 'finished', outcome = 'passed', finished_at = now(),
              lease_owner = null, lease_until = null where id = $1`,
      [run.runId],
    );
    await control.pool(reap, {
      body: { idleMs: 600_000, maxAgeMs: 6e7, provisionMs: 600_000, closingMs: 600_000 },
    });
    const [session] = await control.sql<{ state: string }>(
      'select state from sessions where run_id = $1',
      [run.runId],
    );
    expect(session).toEqual({ state: 'CLOSING' });
    await host.answer(call?.id ?? '', { output: report });
    await host.closed();
  });

  it('has a session that lists of sessions exclude unless the request asks for it', async () => {
    const run = await start();
    await answerNext(report);
    await read(run.runId, 10);
    const listed = async (query: { runs?: 'exclude' | 'include' | 'only'; run?: string }) => {
      const { data, meta } = (await control.read(listSessions, { query })).body;
      return { runs: data.map((session) => session.run), total: meta.totalItems };
    };
    const none = { runs: [], total: 0 };
    expect(await listed({})).toEqual(none);
    expect(await listed({ runs: 'exclude' })).toEqual(none);
    const own = { kind: 'world', id: run.runId };
    for (const runs of ['include', 'only'] as const) {
      expect((await listed({ runs })).runs).toContainEqual(own);
    }
    expect(await listed({ run: run.runId })).toEqual({ runs: [own], total: 1 });
    expect(await listed({ run: 'run-none' })).toEqual(none);
  });

  it('keeps a waiting request open, and answers it with the report', async () => {
    const waiting = control.send(runTests, { params, body: {} });
    await answerNext({ ...report, passed: false });
    const { status, body } = await waiting;
    expect(status).toBe(200);
    expect(body).toMatchObject({ state: 'finished', outcome: 'failed' });
  });

  it('that cannot be carried out ends as an error with its reason', async () => {
    const run = await start();
    const host = await warmHost(control);
    const call = await takeCall(host);
    await host.answer(call?.id ?? '', { error: { code: 'no_tests', message: 'there are none' } });
    expect(await read(run.runId, 10)).toMatchObject({
      outcome: 'error',
      error: { code: 'no_tests', message: 'there are none' },
      report: null,
    });
  });

  it.each([
    ['no report', { tests: [] }, 'internal'],
    ['one that is too large', { ...report, text: 'x'.repeat(600_000) }, 'too_large'],
  ])('answered with %s ends as an error', async (_, output, code) => {
    const run = await start();
    await answerNext(output);
    expect(await read(run.runId, 10)).toMatchObject({ outcome: 'error', error: { code } });
  });

  it('moves to another host when the first is lost, and ends as an error when the second is lost, too', async () => {
    const run = await start();
    for (const _ of [1, 2]) {
      const host = await warmHost(control);
      await takeCall(host);
      await control.pool(reportGone, { params: { hostId: host.id }, body: { reason: 'exited' } });
    }
    expect(await read(run.runId, 10)).toMatchObject({
      outcome: 'error',
      error: { code: 'host_lost' },
    });
  });

  it('is started once by requests with one idempotency key', async () => {
    const key = randomUUID();
    const [first, second] = await Promise.all([start('notes', key), start('notes', key)]);
    expect(first.runId).toBe(second.runId);
    await expect(start('notes@1', key)).rejects.toMatchObject({ code: 'conflict' });
    await answerNext(report);
    await read(first.runId, 10);
  });

  it('uses the version that the address of the world names', async () => {
    await push(control.send, 'notes', changed(notesWorld(), { 'README.md': '# Two' }));
    expect(await start('notes@1')).toMatchObject({ number: 1 });
    expect(await start('notes')).toMatchObject({ number: 2 });
    await answerNext(report);
    await answerNext(report);
    await expect(start('notes@9')).rejects.toMatchObject({ code: 'not_found' });
    const list = async (slug: string) =>
      (await control.read(listTestRuns, { params: { slug }, query: {} })).body;
    expect((await list('notes@2')).meta.totalItems).toBe(1);
    const all = await list('notes');
    expect(all.meta.totalItems).toBeGreaterThan(2);
    const times = all.data.map(({ queuedAt }) => queuedAt);
    expect(times).toEqual(times.toSorted().reverse());
  });

  it('waits while the quota of sessions is used up, and runs after that', async () => {
    await control.sql('update projects set quota_sessions = 1');
    const open = await control.send(openSession, { body: { slug: 'notes' } });
    const run = await start();
    const refused = `select id from world_runs where id = $1 and state = 'queued' and due_at > queued_at`;
    await until(async () => (await control.sql(refused, [run.runId])).length === 1, {
      timeoutMs: 10_000,
      what: 'a run that was refused a session',
    });
    const params = { sessionId: open.body.id };
    await control.send(closeSession, { params, body: {} });
    await control.sql('update projects set quota_sessions = null');
    await control.sql('update world_runs set due_at = now() where id = $1', [run.runId]);
    await answerNext(report);
    expect(await read(run.runId, 10)).toMatchObject({ outcome: 'passed' });
  });

  it('is continued by another control plane when the control plane that runs it stops', async () => {
    const replica = await startTestControl({
      databaseUrl: control.config.databaseUrl.reveal(),
      replicaOf: control,
    });
    const run = (await replica.send(runTests, { params, body: { wait: false } })).body;
    const host = await warmHost(control);
    const call = await takeCall(host);
    await replica.stop();
    // Either replica may hold the lease; here it expires, and its owner is gone.
    await control.sql(
      `update world_runs set lease_owner = 'gone', lease_until = now() where id = $1`,
      [run.runId],
    );
    await host.answer(call?.id ?? '', { output: report });
    const ended = await read(run.runId, 20);
    expect(ended).toMatchObject({ outcome: 'passed', report });
    expect(
      await control.sql('select id from calls where kind = $1 and id = $2', ['test', call?.id]),
    ).toHaveLength(1);
    const sessions = await control.sql('select id from sessions where run_id = $1', [run.runId]);
    expect(sessions).toHaveLength(1);
  });
});

describe('test runs', () => {
  it('are limited in the number that a project may queue', async () => {
    const { versionId } = await start();
    await answerNext(report);
    await control.sql(
      `insert into world_runs (id, project_id, world_id, version_id, kind, origin, input, state, due_at)
       select 'run-' || n, v.project_id, v.world_id, v.id, 'tests', 'api', '{}', 'queued', now() + interval '1 day'
         from versions v, generate_series(1, 100) n where v.id = $1`,
      [versionId],
    );
    await expect(start()).rejects.toMatchObject({ code: 'exhausted', detail: { limit: 100 } });
    const version = await push(control.send, 'notes', pushed('# A push that has no room'));
    expect(version.tests).toMatchObject({ state: 'finished', outcome: 'error' });
    await control.sql(`delete from world_runs where id ~ '^run-[0-9]+$'`);
  });

  it('belong to one project: other projects neither read nor start them, and the public key only reads', async () => {
    const run = await start();
    await answerNext(report);
    expect((await neighbour.ask('GET', `/worlds/notes/tests/${run.runId}`)).status).toBe(404);
    expect((await neighbour.ask('POST', '/worlds/notes/tests', {})).status).toBe(404);
    await expect(control.read(runTests, { params, body: {} })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(read('run-00000000000000000000000000')).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('a push of a world that runs its tests on push', () => {
  it('does not wait for the tests, and the version shows their result later', async () => {
    const version = await push(control.send, 'notes', pushed('# Three'));
    expect(version.tests).toMatchObject({ outcome: null, summary: null });
    const { runId } = version.tests ?? {};
    expect(await read(runId ?? '')).toMatchObject({ origin: 'push', versionId: version.id });
    await answerNext({ ...report, passed: false });
    await read(runId ?? '', 10);
    const result = { runId, state: 'finished', outcome: 'failed', summary: { total: 2 } };
    const of = { slug: 'notes', version: String(version.number) };
    expect((await control.read(getVersion, { params: of })).body.tests).toMatchObject(result);
    const { body } = await control.read(listVersions, { params, query: {} });
    expect(body.data[0]?.tests).toMatchObject(result);
    expect(body.data.at(-1)?.tests).not.toMatchObject(result);
  });

  it('runs none if it changes nothing', async () => {
    const before = await control.sql('select id from world_runs');
    expect((await push(control.send, 'notes', pushed('# Three'))).changed).toBe(false);
    expect(await control.sql('select id from world_runs')).toHaveLength(before.length);
  });
});

describe('a test gate', () => {
  const gated = (readme: string) =>
    changed(notesWorld(), {
      'README.md': readme,
      'svc-env.toml': `${environmentToml}\n[actions]\ngate = ["tests"]\n`,
      'tests/test_notes.py': 'def test_it(): pass\n',
    });
  const of = { slug: 'gated' };
  const headOf = async () => (await control.read(getWorld, { params: of })).body.version.number;
  const gateOf = async (version: number) =>
    (await control.read(getVersion, { params: { ...of, version: String(version) } })).body.gate;
  /** Lets the next test run pass or fail. */
  const testsEnd = async (passed: boolean) => {
    const [run] = await control.sql<{ id: string }>(
      `select id from world_runs where state <> 'finished' order by queued_at limit 1`,
    );
    await answerNext({ ...report, passed });
    await control.read(getTestRun, {
      params: { ...of, runId: run?.id ?? '' },
      query: { wait: 10 },
    });
    await clearPool(control);
  };
  const pushOn = (base: number, readme: string) =>
    push(control.send, 'gated', gated(readme), { base });

  it('makes a version the head only after its tests pass', async () => {
    const body = { slug: 'gated', from: encodeTree(notesWorld()) };
    await control.send(createWorld, { body });
    const second = await pushOn(1, '# Two');
    expect(second).toMatchObject({ status: 201, number: 2, changed: true, gate: 'waiting' });
    expect(second.tests).toMatchObject({ outcome: null });
    expect(await headOf()).toBe(1);
    await testsEnd(true);
    expect([await headOf(), await gateOf(2)]).toEqual([2, 'passed']);
  });

  it('keeps a version with failing tests from becoming the head, and accepts the next one based on it', async () => {
    expect(await pushOn(2, '# Three')).toMatchObject({ number: 3, gate: 'waiting' });
    await testsEnd(false);
    expect([await headOf(), await gateOf(3)]).toEqual([2, 'failed']);
    expect(await pushOn(3, '# Three')).toMatchObject({ number: 3, changed: false });
    expect(await pushOn(3, '# Four')).toMatchObject({ number: 4, gate: 'waiting' });
    await testsEnd(true);
    expect([await headOf(), await gateOf(3), await gateOf(4)]).toEqual([4, 'failed', 'passed']);
    await expect(pushOn(3, '# Late')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('accepts one of two versions based on the head: the first that passes', async () => {
    expect(await pushOn(4, '# Five')).toMatchObject({ number: 5 });
    expect(await pushOn(4, '# Six')).toMatchObject({ number: 6 });
    await testsEnd(true);
    await testsEnd(true);
    expect([await headOf(), await gateOf(5), await gateOf(6)]).toEqual([5, 'passed', 'outdated']);
  });

  it('accepts a version whose tests pass when they are run again', async () => {
    expect(await pushOn(5, '# Seven')).toMatchObject({ number: 7 });
    await testsEnd(false);
    expect(await headOf()).toBe(5);
    await control.send(runTests, { params: { slug: 'gated@7' }, body: { wait: false } });
    await testsEnd(true);
    expect([await headOf(), await gateOf(7)]).toEqual([7, 'passed']);
    await control.send(runTests, { params: { slug: 'gated@7' }, body: { wait: false } });
    await testsEnd(false);
    expect([await headOf(), await gateOf(7)]).toEqual([7, 'passed']);
  });

  it('delays neither imported rows nor a push of a tree without the gate', async () => {
    expect(await pushOn(7, '# Eight')).toMatchObject({ number: 8 });
    const { body } = await control.send(importData, {
      params: of,
      body: { rows: { folders: [{ id: 77, name: 'imported' }] } },
    });
    expect(body).toMatchObject({ version: { number: 9 } });
    expect(await headOf()).toBe(9);
    await testsEnd(true);
    expect([await headOf(), await gateOf(8)]).toEqual([9, 'outdated']);
    const plain = await push(control.send, 'gated', notesWorld(), { base: 9 });
    expect(plain).toMatchObject({ number: 10, gate: null });
    expect(await headOf()).toBe(10);
  });

  it('is refused if the tree has no tests', async () => {
    const tree = gated('# None').filter(({ path }) => !path.startsWith('tests/'));
    const refused = push(control.send, 'gated', tree, { base: 10 });
    await expect(refused).rejects.toMatchObject({ code: 'invalid' });
    await expect(refused).rejects.toThrow(/the gate requires tests/);
  });
});
