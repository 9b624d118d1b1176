/**
 * A project that uses as much as it can. Each resource has a quota, which holds across several
 * control planes and is named in the refusal. Another project is not affected.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import { examine } from '#wire/admin-api/operations.ts';
import { type Database, openDatabase, statement } from '../../../src/control/db/core/database.ts';
import { forProject } from '../../../src/control/db/core/project-queue.ts';
import { startNotifications } from '../../../src/control/platform/notifications/notifications.ts';
import type { Neighbour } from '../../support/control/second-project.ts';
import {
  expectRefusals,
  quotas,
  startTwoProjects,
  type TwoProjects,
  taken,
  worldOf,
} from '../../support/control/two-projects.ts';

const quiet = createLog('test', 'silent');

let stage: TwoProjects;
beforeAll(async () => {
  stage = await startTwoProjects();
});
afterAll(() => stage.stop());
beforeEach(() => stage.begin());

const call = () => ({ kind: 'state', input: { entity: 'notes' } });

const openCalls = async (id: string) =>
  (
    await stage.control.sql<{ open: number }>(
      'select open_calls as open from sessions where id = $1',
      [id],
    )
  )[0]?.open;

describe('calls', () => {
  it('do not exceed their quota in a minute, however many control planes get them at once', async () => {
    const { id } = await stage.openOn(stage.greedy);
    // Counts into the next minute, so that the window does not end during the test.
    await stage.control.sql(
      `insert into call_minutes values ($1, date_trunc('minute', now()) + interval '1 minute', 0)`,
      [stage.greedy.projectId],
    );
    await stage.control.sql(
      'update projects set quota_calls_per_minute = 7, quota_queued_calls = 100 where id = $1',
      [stage.greedy.projectId],
    );
    const answers = await stage.askAll(stage.greedy, 40, `/world-sessions/${id}/calls`, call);
    expect(taken(answers)).toBe(7);
    expectRefusals(answers, 'calls_per_minute', 7);
    const theirs = await stage.openOn(stage.other);
    expect(
      (await stage.other.ask('POST', `/world-sessions/${theirs.id}/calls`, call())).status,
    ).toBe(202);
  });

  it('that are queued do not exceed the quota, and each session may still queue a few', async () => {
    const first = await stage.openOn(stage.greedy);
    const second = await stage.openOn(stage.greedy);
    const answers = await stage.askAll(stage.greedy, 60, `/world-sessions/${first.id}/calls`, call);
    expect(taken(answers)).toBe(quotas.queuedCalls);
    expectRefusals(answers, 'queued_calls', quotas.queuedCalls);
    const more = await stage.askAll(stage.greedy, 20, `/world-sessions/${second.id}/calls`, call);
    expect(taken(more)).toBe(8);
    const theirs = await stage.openOn(stage.other);
    const others = await stage.askAll(stage.other, 20, `/world-sessions/${theirs.id}/calls`, call);
    expect(taken(others)).toBe(20);
    const { call: next } = await first.host.calls();
    await first.host.answer(next?.id ?? '', { output: null });
    const again = await stage.askAll(stage.greedy, 1, `/world-sessions/${first.id}/calls`, call);
    expectRefusals(again, 'queued_calls', quotas.queuedCalls);
  });

  it('that a project waits for are bounded, and other projects may still wait for theirs', async () => {
    const { id } = await stage.openOn(stage.greedy);
    const held = Array.from({ length: quotas.waits }, () =>
      stage.greedy.ask('POST', `/world-sessions/${id}/calls?wait=2`, call()),
    );
    await until(async () => (await openCalls(id)) === quotas.waits, {
      timeoutMs: 30_000,
      what: 'every call to wait',
    });
    const refused = await stage.greedy.ask('GET', `/world-sessions/${id}?wait=2`);
    expectRefusals([refused], 'waits', quotas.waits);
    expect(refused.status).toBe(429);
    expect((await stage.greedy.ask('GET', `/world-sessions/${id}`)).status).toBe(200);
    const theirs = await stage.openOn(stage.other);
    expect((await stage.other.ask('GET', `/world-sessions/${theirs.id}?wait=1`)).status).toBe(200);
    await stage.control.sql(
      `update sessions set state = 'CLOSED', end_reason = 'requested', closed_at = now() where id = $1`,
      [id],
    );
    await stage.control.sql(`update calls set state = 'cancelled' where session_id = $1`, [id]);
    for (const answer of await Promise.all(held)) expect(answer.status).toBeLessThan(300);
    expect((await stage.greedy.ask('GET', `/world-sessions/${id}?wait=1`)).status).toBe(200);
  });
});

describe('worlds', () => {
  it('do not exceed their quota, however many are created at once', async () => {
    const answers = await stage.askAll(stage.greedy, 8, '/worlds', (index) =>
      worldOf(`more-${index}`),
    );
    expect(taken(answers)).toBe(quotas.worlds - 1);
    expectRefusals(answers, 'worlds', quotas.worlds);
    expect((await stage.other.ask('POST', '/worlds', worldOf('more'))).status).toBe(201);
    expect(await stage.countUploads()).toBe(0);
  });

  it('that would exceed the quota of bytes are refused before a blob is written', async () => {
    const before = (await stage.listBlobs()).sort();
    const large = worldOf('large', randomBytes(1_000_000).toString('hex'));
    const answer = await stage.greedy.ask('POST', '/worlds', large);
    expect(answer.status).toBe(429);
    expectRefusals([answer], 'blob_mib', quotas.blobMib);
    expect((await stage.listBlobs()).sort()).toEqual(before);
    expect(await stage.countUploads()).toBe(0);
    const fitting = worldOf('large', randomBytes(200_000).toString('hex'));
    expect((await stage.greedy.ask('POST', '/worlds', fitting)).status).toBe(201);
    const again = { ...fitting, slug: 'large-too' };
    expect((await stage.greedy.ask('POST', '/worlds', again)).status).toBe(201);
    expectRefusals(
      [await stage.greedy.ask('POST', '/worlds', { ...fitting, slug: 'x' })],
      'blob_mib',
      1,
    );
    expect(
      (await stage.other.ask('POST', '/worlds', { ...fitting, slug: 'same-blobs' })).status,
    ).toBe(201);
  });
});

describe('links', () => {
  it('that are open at once do not exceed their quota', async () => {
    const { id } = await stage.openOn(stage.greedy);
    const theirs = await stage.openOn(stage.other);
    await stage.control.sql(`update sessions set surfaces = '{ui}' where id in ($1, $2)`, [
      id,
      theirs.id,
    ]);
    const make = (project: Neighbour, session: string, count: number) =>
      stage.askAll(project, count, `/world-sessions/${session}/links`, () => ({ surface: 'ui' }));
    const answers = await make(stage.greedy, id, 12);
    expect(taken(answers)).toBe(quotas.links);
    expectRefusals(answers, 'links', quotas.links);
    expect(taken(await make(stage.other, theirs.id, 1))).toBe(1);
    await stage.control.sql(`update surface_links set expires_at = now() - interval '1 second'`);
    expect(taken(await make(stage.greedy, id, 1))).toBe(1);
  });
});

describe('a flood of requests', () => {
  it('delays only its own project: a request of another one is answered before most of it', async () => {
    const theirs = await stage.openOn(stage.other);
    const order: string[] = [];
    const ask = (project: Neighbour, name: string, path: string) =>
      project.ask('GET', path).then(({ status }) => {
        expect(status).toBe(200);
        order.push(name);
      });
    // Puts the key into the cache.
    await ask(stage.greedy, 'first', '/world-sessions');
    const flood = Array.from({ length: 400 }, () => ask(stage.greedy, 'greedy', '/world-sessions'));
    const one = ask(stage.other, 'other', `/world-sessions/${theirs.id}`);
    await Promise.all([...flood, one]);
    expect(order.indexOf('other')).toBeLessThan(200);
  });
});

describe('the doctor', () => {
  it('shows operators which project is near which quota', async () => {
    await stage.control.sql('update projects set quota_worlds = 1 where id = $1', [
      stage.greedy.projectId,
    ]);
    const { body } = await stage.control.admin(examine, {});
    const found = body.checks.find(({ name }) => name === 'quotas');
    expect(found).toMatchObject({
      status: 'warning',
      fix: expect.stringContaining('svc admin quotas'),
    });
    expect(found?.message).toContain(`${stage.greedy.projectId} has 1 of 1 ("worlds")`);
    expect(found?.message).not.toContain(stage.other.projectId);
  });
});

describe('a project with slow queries', () => {
  /** Fills all query slots of a project with statements that wait for a lock. */
  const blocked = async (work: (db: Database, projectId: string) => Promise<void>) => {
    const [db, holder] = ['a', 'b'].map(() => openDatabase(new Secret(stage.database.url), quiet));
    if (db === undefined || holder === undefined) throw new Error('no database');
    const lock = statement('hold_back', 'select pg_advisory_xact_lock($1)');
    const projectId = 'prj-greedy';
    let waiting: Promise<unknown> = Promise.resolve();
    await holder.transaction(async (tx) => {
      await tx.query(lock, [4711]);
      waiting = forProject(projectId, () =>
        Promise.all(Array.from({ length: 20 }, () => db.query(lock, [4711]))),
      );
      await work(db, projectId);
    });
    await waiting;
    await Promise.all([db.close(), holder.close()]);
  };

  it('uses no more than its share of the connections, however long its queries take', async () => {
    await blocked(async (db) => {
      const one = statement('one', 'select 1 as one');
      const asked = forProject('prj-other', () =>
        Promise.all([1, 2, 3].map(() => db.query(one, []))),
      );
      expect(await asked).toEqual([1, 2, 3].map(() => [{ one: 1 }]));
      expect(db.connections()).toMatchObject({ waiting: 15, most: 10 });
    });
  });

  it('does not delay notifications of other projects that are sent together with its own', async () => {
    const config = { databaseUrl: new Secret(stage.database.url) };
    const hearing = startNotifications(config.databaseUrl, { query: async () => [] }, quiet);
    const heard = hearing.watch('news-of-other');
    await heard.next(10_000); // The connection is listening now.
    await blocked(async (db, projectId) => {
      const telling = startNotifications(config.databaseUrl, db, quiet);
      forProject(projectId, () => telling.notify('news-of-greedy'));
      forProject('prj-other', () => telling.notify('news-of-other'));
      expect((await heard.next(10_000)).isNotified).toBe(true);
      await telling.stop();
    });
    await hearing.stop();
  });
});
