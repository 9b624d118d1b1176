/** Tests two control planes on one database, a database that becomes unavailable, and a control plane that stops. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { examine } from '#wire/admin-api/operations.ts';
import { observePool } from '#wire/pool-api/operations.ts';
import {
  archiveWorld,
  closeSession,
  createWorld,
  deleteWorld,
  enqueueCall,
  getSession,
  openSession,
  pushVersion,
  renameWorld,
} from '#wire/public-api/operations.ts';
import {
  type StartedControl,
  startTestControl,
  type TestControl,
} from '../../support/control/control.ts';
import { atReplica, installation, warmHost } from '../../support/control/host.ts';
import { changed, pushFiles } from '../../support/control/pushes.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { execute } from '../../support/database/sql.ts';
import { encodeTree, notesWorld, scenarioToml } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let control: StartedControl;
let replica: StartedControl;

beforeEach(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url });
  replica = await startTestControl({ databaseUrl: database.url, replicaOf: control });
  await control.send(createWorld, { body: { slug: 'notes', from: encodeTree(notesWorld()) } });
});

afterEach(async () => {
  await replica.stop();
  await control.stop();
  await database.drop();
});

const list = { kind: 'tool', name: 'list_notes' } as const;

const open = async (at: TestControl, wait = 0) =>
  (await at.send(openSession, { body: { slug: 'notes' }, query: { wait } })).body;

/**
 * Deadline for a wake-up, in milliseconds. It is shorter than the interval at which a waiter checks by itself. A waiter
 * that wakes within it was therefore woken by a notification.
 */
const soonMs = 4_000;

const timed = async <Value>(work: Promise<Value>): Promise<Value> => {
  const startedAt = performance.now();
  const value = await work;
  expect(performance.now() - startedAt).toBeLessThan(soonMs);
  return value;
};

const listeners = () =>
  control.sql<{ pid: number }>(
    `select pid from pg_stat_activity
      where application_name = 'svc-control-listen' and datname = current_database()
        and query like 'listen%'`,
  );

const bothListen = () =>
  until(async () => (await listeners()).length === 2, { timeoutMs: 10_000, what: 'two listeners' });

describe('two replicas', () => {
  it('wake each other for every step of a session', async () => {
    await bothListen();
    const host = await warmHost(control);
    const polling = host.poll(10);
    const opening = open(replica, 10);
    expect((await timed(polling))?.worldSlug).toBe('notes');
    await host.ready();
    const session = await timed(opening);
    expect(session.ready).toBe(true);

    const waiting = host.calls(10);
    const params = { sessionId: session.id };
    const calling = replica.send(enqueueCall, { params, body: list, query: { wait: 10 } });
    const { call } = await timed(waiting);
    await host.answer(call?.id ?? '', { output: [] });
    expect((await timed(calling)).body).toMatchObject({ state: 'succeeded', output: [] });

    const closing = host.calls(10);
    const closed = replica.send(closeSession, { params, query: { wait: 10 }, body: {} });
    expect(await timed(closing)).toEqual({ close: { keepWarm: false } });
    await host.closed();
    expect((await timed(closed)).body.state).toBe('CLOSED');
  });

  it('wake the planner that waits at the other replica', async () => {
    await bothListen();
    const query = { installation, hold: 10 };
    const { revision } = (await control.pool(observePool, { query })).body;
    const held = control.pool(observePool, { query: { ...query, after: revision } });
    await open(replica);
    expect((await timed(held)).body.waiting).toMatchObject([{ count: 1 }]);
  });

  it('keep calls in order when clients and the host use both replicas', async () => {
    const host = await warmHost(control);
    const opened = await open(control);
    await host.poll();
    await host.ready();
    const count = 20;
    const params = { sessionId: opened.id };
    const calling = Promise.all(
      Array.from({ length: count }, (_, index) =>
        (index % 2 === 0 ? control : replica).send(enqueueCall, {
          params,
          body: list,
          query: { wait: 20 },
        }),
      ),
    );
    const places = [host, atReplica(host, replica)];
    const seen: number[] = [];
    for (let turn = 0; seen.length < count; turn += 1) {
      const place = places[turn % 2] ?? host;
      const { call } = await place.calls(10);
      if (call === undefined) continue;
      seen.push(call.seq);
      await place.answer(call.id, { output: call.seq });
    }
    expect(seen).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    for (const { body } of await calling) expect(body.output).toBe(body.seq);
  });
});

describe('a world whose sessions were opened at this replica', () => {
  const params = { slug: 'notes' };
  const openTask = (task: string) =>
    control.send(openSession, { body: { slug: 'notes', task }, query: { wait: 0 } });

  const push = async (): Promise<string> => {
    const tree = changed(notesWorld(), {
      'scenarios/again/scenario.toml': scenarioToml,
      'scenarios/again/instruction.md': 'Once more.\n',
    });
    const body = { base: 1, files: pushFiles(tree) };
    return (await replica.send(pushVersion, { params, body })).body.id;
  };

  it('is opened in the version that was since pushed to another replica', async () => {
    await open(control);
    const id = await push();
    expect((await open(control)).versionId).toBe(id);
    expect((await open(control)).versionId).toBe(id);
  });

  it('is opened on a task that was since pushed to another replica', async () => {
    await open(control);
    await push();
    expect((await openTask('again')).body).toMatchObject({ task: { name: 'again' } });
    await expect(openTask('never')).rejects.toMatchObject({ code: 'invalid' });
  });

  it('is not found by its old slug once another replica has renamed it', async () => {
    await open(control);
    await replica.send(renameWorld, { params, body: { slug: 'texts' } });
    await expect(open(control)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('renamed to "texts"'),
    });
    await control.send(createWorld, { body: { slug: 'notes', from: encodeTree(notesWorld()) } });
    expect((await open(control)).slug).toBe('notes');
  });

  it('is refused as soon as another replica has archived it', async () => {
    await open(control);
    await replica.send(archiveWorld, { params, body: { archived: true } });
    await expect(open(control)).rejects.toMatchObject({ code: 'conflict' });
    await replica.send(archiveWorld, { params, body: { archived: false } });
    await open(control);
  });

  it('is not found as soon as another replica has deleted it', async () => {
    await open(control);
    await replica.send(deleteWorld, { params });
    await expect(open(control)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a database that drops every connection', () => {
  it('is survived: the next requests work, and notifications between replicas arrive again', async () => {
    await bothListen();
    const host = await warmHost(control);
    // A host polls again after its poll or the next connection was cut.
    const ask = (): Promise<Awaited<ReturnType<typeof host.poll>>> =>
      host.poll(20).catch((error: { code?: unknown }) => {
        if (error.code !== 'unavailable') throw error;
        return ask();
      });
    const polling = ask();
    const cut = await listeners();
    await control.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'svc-control%'`,
    );
    await until(
      async () => {
        const now = await listeners();
        return now.length === 2 && !now.some(({ pid }) => cut.some((old) => old.pid === pid));
      },
      { timeoutMs: 10_000, what: 'two new listeners' },
    );
    const session = await until(() => open(replica).catch(() => undefined), {
      timeoutMs: 30_000,
      what: 'an open that works',
    });
    expect((await timed(polling))?.sessionId).toBe(session.id);
    await host.ready();
    const read = await control.send(getSession, { params: { sessionId: session.id } });
    expect(read.body.ready).toBe(true);
  });

  it('makes requests fail as unavailable while it accepts no connections', async () => {
    const name = new URL(database.url).pathname.slice(1);
    const admin = new URL(database.url);
    admin.pathname = '/postgres';
    await execute(admin.href, `alter database ${name} allow_connections false`);
    await execute(
      admin.href,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    );
    await until(
      () =>
        open(control).then(
          () => false,
          (error) => error.code === 'unavailable',
        ),
      { timeoutMs: 30_000, what: 'an answer of 503' },
    );
    const ready = await control.raw({ method: 'GET', path: '/ready' });
    expect(ready).toMatchObject({ status: 503, body: { checks: { blobs: 'ok' } } });
    expect((await control.raw({ method: 'GET', path: '/health' })).status).toBe(200);

    await execute(admin.href, `alter database ${name} allow_connections true`);
    await until(() => open(control).catch(() => undefined), {
      timeoutMs: 30_000,
      what: 'an open that works',
    });
  });
});

describe('a database that is emptied', () => {
  it('is reported as empty and ends both control planes, and a new one works with the same keys', async () => {
    await open(control);
    await control.sql('drop schema public cascade');
    await control.sql('create schema public');
    await expect(open(control)).rejects.toMatchObject({ code: 'unavailable' });
    const { body } = await replica.admin(examine, {});
    expect(body.checks.find(({ name }) => name === 'database')).toMatchObject({
      status: 'failed',
      message: 'the database is empty: all its data is gone',
    });
    await expect(control.running.ended).rejects.toThrow('the database was emptied');
    await expect(replica.running.ended).rejects.toThrow('the database was emptied');
    const again = await startTestControl({ databaseUrl: database.url, replicaOf: control });
    await again.send(createWorld, { body: { slug: 'notes', from: encodeTree(notesWorld()) } });
    const host = await warmHost(again);
    const session = await open(again);
    expect((await host.poll())?.sessionId).toBe(session.id);
    expect(await again.raw({ method: 'GET', path: '/ready' })).toMatchObject({ status: 200 });
    await again.stop();
  });
});

describe('a release on a database that a newer release has migrated', () => {
  it('starts on the newer schema and is ready', async () => {
    await control.sql(
      `insert into migrations (name, run_on) values ('9999_of_next_release', now())`,
    );
    for (const table of ['sessions', 'hosts', 'calls', 'projects']) {
      await control.sql(`alter table ${table} add column of_next_release integer default 1`);
    }
    const older = await startTestControl({ databaseUrl: database.url, replicaOf: control });
    expect(await older.raw({ method: 'GET', path: '/ready' })).toMatchObject({ status: 200 });
    const host = await warmHost(older);
    const session = await open(older);
    expect((await host.poll())?.sessionId).toBe(session.id);
    expect(await host.ready()).toEqual({});
    await older.stop();
  });
});

describe('a control plane that stops', () => {
  it('answers long polls and waiting requests at once, with the current state', async () => {
    const host = await warmHost(replica);
    const [address = ''] = replica.running.addresses.host;
    const session = await open(control);
    await host.poll();
    await host.ready();
    const authorization = `Bearer ${host.token}`;
    const query = `generation=${host.generation}&hold=20`;
    const polling = fetch(`${address}/api/host/world-sessions/${session.id}/calls?${query}`, {
      headers: { authorization },
    });
    // A request that was sent later has been answered, so the poll has arrived.
    expect((await fetch(`${address}/nothing`)).status).toBe(404);
    const startedAt = performance.now();
    await replica.stop();
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    const answer = await polling;
    expect(await answer.json()).toEqual({});
    await expect(fetch(`${address}/health`)).rejects.toThrow();
  });

  it('is not ready while it drains, but keeps serving', async () => {
    const shutdown = { drainMs: 2_000, finishMs: 2_500 };
    const config = { ...control.config, shutdown };
    const another = await startTestControl({ databaseUrl: database.url, replicaOf: { config } });
    const stopped = another.stop();
    for (const path of ['/ready', '/ready?exclude=room&exclude=blobs']) {
      expect(await another.raw({ method: 'GET', path })).toMatchObject({
        status: 503,
        body: { status: 'not ready', checks: { running: 'it is stopping', database: 'ok' } },
      });
    }
    const session = await open(another);
    expect((await another.send(getSession, { params: { sessionId: session.id } })).status).toBe(
      200,
    );
    await stopped;
  });
});
