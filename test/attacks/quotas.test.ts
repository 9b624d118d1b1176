/**
 * A project that takes all it can get: each thing that it could fill is bounded by a quota, which holds at
 * several control planes at once, names itself, and leaves another project as it was.
 */
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseSurfaceTemplate } from '#domain/surface-address.ts';
import { createLog } from '#runtime/log.ts';
import { until } from '#runtime/pause.ts';
import { Secret } from '#runtime/secret.ts';
import { examine } from '#wire/admin-api/operations.ts';
import { reap } from '#wire/pool-api/operations.ts';
import { digestOf } from '../../src/control/blobs/blobs.ts';
import { openFolderBlobs } from '../../src/control/blobs/folder.ts';
import type { ControlConfig } from '../../src/control/config.ts';
import { trimLedgers } from '../../src/control/db/ledgers.ts';
import { type Database, openDatabase, statement } from '../../src/control/db/pool.ts';
import { forProject } from '../../src/control/db/turns.ts';
import { beginUpload, collectUpload, finishUpload } from '../../src/control/db/uploads.ts';
import { startNotices } from '../../src/control/notify.ts';
import { startTestControl, type TestControl } from '../support/control.ts';
import { type PlayedHost, warmHost } from '../support/host.ts';
import { type Answer, addNeighbour, type Neighbour } from '../support/neighbour.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { encodeTree, notesWorld } from '../support/worlds.ts';

const quiet = createLog('test', 'silent');
const quotas = {
  callsPerMinute: 100_000,
  queuedCalls: 20,
  worlds: 4,
  blobMib: 1,
  ledgerMib: 1,
  links: 3,
  waits: 3,
};
const template = parseSurfaceTemplate('https://{session}--{surface}.worlds.test');
if (template === undefined) throw new Error('the template is not taken');
const gateway = { template, token: new Secret('gateway-token') };

let database: TestDatabase;
let control: TestControl & { config: ControlConfig };
let replica: TestControl;
let greedy: Neighbour;
let other: Neighbour;

beforeAll(async () => {
  database = await testDatabase();
  control = await startTestControl({ databaseUrl: database.url, quotas, gateway });
  replica = await startTestControl({ databaseUrl: database.url, replicaOf: control });
});

afterAll(async () => {
  await replica.stop();
  await control.stop();
  await database.drop();
});

const world = (slug: string, extra = '') => ({
  slug,
  from: [
    ...encodeTree(notesWorld()),
    { path: 'extra.md', content: Buffer.from(extra).toString('base64') },
  ],
});

beforeEach(async () => {
  await control.sql(
    `update sessions set state = 'CLOSED', end_reason = 'requested', closed_at = now()
      where closed_at is null`,
  );
  await control.sql(`update hosts set state = 'gone', session_id = null where state <> 'gone'`);
  await control.sql('delete from ledgers');
  greedy = await addNeighbour(control);
  other = await addNeighbour(control);
  for (const project of [greedy, other]) {
    expect((await project.ask('POST', '/worlds', world('notes'))).status).toBe(201);
  }
});

/** Asks at both control planes in turn, all at once. */
const askAll = (project: Neighbour, count: number, path: string, body: (index: number) => object) =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      project.ask('POST', path, body(index), index % 2 === 0 ? control : replica),
    ),
  );

const taken = (answers: readonly Answer[]): number =>
  answers.filter(({ status }) => status < 300).length;

const expectRefusals = (answers: readonly Answer[], quota: string, limit: number): void => {
  for (const { status, headers, body } of answers.filter((answer) => answer.status >= 300)) {
    expect({ status, body }).toMatchObject({
      status: 429,
      body: { error: 'exhausted', quota, limit },
    });
    expect(body).toMatchObject({
      message: expect.stringContaining(`SVC_QUOTA_${quota.toUpperCase()}`),
    });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  }
};

const openOn = async (project: Neighbour): Promise<{ id: string; host: PlayedHost }> => {
  const host = await warmHost(control);
  const { body } = await project.ask('POST', '/world-sessions', { slug: 'notes' });
  await host.poll();
  await host.ready();
  return { id: (body as { id: string }).id, host };
};

const openCalls = async (id: string) =>
  (
    await control.sql<{ open: number }>('select open_calls as open from sessions where id = $1', [
      id,
    ])
  )[0]?.open;

const call = () => ({ kind: 'state', input: { entity: 'notes' } });

const runReaper = () => {
  const hour = 3_600_000;
  const body = { idleMs: hour, maxAgeMs: hour, provisionMs: hour, closingMs: hour };
  return control.pool(reap, { body });
};

describe('calls', () => {
  it('are no more in a minute than the quota, however many control planes are asked at once', async () => {
    const { id } = await openOn(greedy);
    // A minute that is not over before the test is.
    await control.sql(
      `insert into call_minutes values ($1, date_trunc('minute', now()) + interval '1 minute', 0)`,
      [greedy.projectId],
    );
    await control.sql(
      'update projects set quota_calls_per_minute = 7, quota_queued_calls = 100 where id = $1',
      [greedy.projectId],
    );
    const answers = await askAll(greedy, 40, `/world-sessions/${id}/calls`, call);
    expect(taken(answers)).toBe(7);
    expectRefusals(answers, 'calls_per_minute', 7);
    const theirs = await openOn(other);
    expect((await other.ask('POST', `/world-sessions/${theirs.id}/calls`, call())).status).toBe(
      202,
    );
  });

  it('that wait are no more than the quota, and every session still takes some', async () => {
    const first = await openOn(greedy);
    const second = await openOn(greedy);
    const answers = await askAll(greedy, 60, `/world-sessions/${first.id}/calls`, call);
    expect(taken(answers)).toBe(quotas.queuedCalls);
    expectRefusals(answers, 'queued_calls', quotas.queuedCalls);
    const more = await askAll(greedy, 20, `/world-sessions/${second.id}/calls`, call);
    expect(taken(more)).toBe(8);
    const theirs = await openOn(other);
    const others = await askAll(other, 20, `/world-sessions/${theirs.id}/calls`, call);
    expect(taken(others)).toBe(20);
    const { call: next } = await first.host.calls();
    await first.host.answer(next?.id ?? '', { output: null });
    const again = await askAll(greedy, 1, `/world-sessions/${first.id}/calls`, call);
    expectRefusals(again, 'queued_calls', quotas.queuedCalls);
  });

  it('of one project that wait for their answers leave others to wait for theirs', async () => {
    const { id } = await openOn(greedy);
    const held = Array.from({ length: quotas.waits }, () =>
      greedy.ask('POST', `/world-sessions/${id}/calls?wait=2`, call()),
    );
    await until(async () => (await openCalls(id)) === quotas.waits, {
      timeoutMs: 5_000,
      what: 'every call to wait',
    });
    const refused = await greedy.ask('GET', `/world-sessions/${id}?wait=2`);
    expectRefusals([refused], 'waits', quotas.waits);
    expect(refused.status).toBe(429);
    expect((await greedy.ask('GET', `/world-sessions/${id}`)).status).toBe(200);
    const theirs = await openOn(other);
    expect((await other.ask('GET', `/world-sessions/${theirs.id}?wait=1`)).status).toBe(200);
    await control.sql(
      `update sessions set state = 'CLOSED', end_reason = 'requested', closed_at = now() where id = $1`,
      [id],
    );
    await control.sql(`update calls set state = 'cancelled' where session_id = $1`, [id]);
    for (const answer of await Promise.all(held)) expect(answer.status).toBeLessThan(300);
    expect((await greedy.ask('GET', `/world-sessions/${id}?wait=1`)).status).toBe(200);
  });
});

/** Every file of the blob store. */
const listBlobs = async (): Promise<string[]> => {
  const { blobs } = control.config;
  if (blobs.kind !== 'folder') throw new Error('blobs are not in a folder');
  const entries = await readdir(blobs.folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
};

/** Blobs that a version or an upload under way has. */
const listUsed = async (): Promise<string[]> => {
  const rows = await control.sql<{ blob: string }>(
    'select distinct unnest(blobs) as blob from versions',
  );
  return rows.map(({ blob }) => blob.slice('sha256:'.length));
};

const countUploads = async () =>
  (await control.sql<{ count: number }>('select count(*)::int as count from uploads'))[0]?.count;

describe('worlds', () => {
  it('are no more than the quota, however many are made at once', async () => {
    const answers = await askAll(greedy, 8, '/worlds', (index) => world(`more-${index}`));
    expect(taken(answers)).toBe(quotas.worlds - 1);
    expectRefusals(answers, 'worlds', quotas.worlds);
    expect((await other.ask('POST', '/worlds', world('more'))).status).toBe(201);
    expect(await countUploads()).toBe(0);
  });

  it('whose bytes are more than the quota are refused before one is written', async () => {
    const before = (await listBlobs()).sort();
    const large = world('large', randomBytes(1_000_000).toString('hex'));
    const answer = await greedy.ask('POST', '/worlds', large);
    expect(answer.status).toBe(429);
    expectRefusals([answer], 'blob_mib', quotas.blobMib);
    expect((await listBlobs()).sort()).toEqual(before);
    expect(await countUploads()).toBe(0);
    const fitting = world('large', randomBytes(200_000).toString('hex'));
    expect((await greedy.ask('POST', '/worlds', fitting)).status).toBe(201);
    const again = { ...fitting, slug: 'large-too' };
    expect((await greedy.ask('POST', '/worlds', again)).status).toBe(201);
    expectRefusals([await greedy.ask('POST', '/worlds', { ...fitting, slug: 'x' })], 'blob_mib', 1);
    expect((await other.ask('POST', '/worlds', { ...fitting, slug: 'same-blobs' })).status).toBe(
      201,
    );
  });

  it('that lose the race for a slug leave no blob behind', async () => {
    const extras = Array.from({ length: 3 }, () => randomBytes(8).toString('hex'));
    const answers = await askAll(greedy, 3, '/worlds', (index) => world('raced', extras[index]));
    expect(taken(answers)).toBe(1);
    for (let index = 0; index < 4; index += 1) await runReaper();
    expect(await countUploads()).toBe(0);
    expect((await listBlobs()).sort()).toEqual((await listUsed()).sort());
  });

  it('whose control plane died leave no blob behind, but those that other worlds have', async () => {
    const { blobs: place } = control.config;
    if (place.kind !== 'folder') throw new Error('blobs are not in a folder');
    const blobs = await openFolderBlobs(place.folder);
    const lost = await Promise.all(
      Array.from({ length: 150 }, (_, index) => blobs.put(Buffer.from(`lost ${index}`))),
    );
    const shared = (await listUsed()).map((hex) => `sha256:${hex}`);
    const underWay = await blobs.put(Buffer.from('under way'));
    const insert = (id: string, digests: string[], age: string) =>
      control.sql(`insert into uploads values ($1, $2, $3, 1, now() - $4::interval)`, [
        id,
        greedy.projectId,
        digests,
        age,
      ]);
    await insert('upl-dead', [...lost, ...shared, underWay], '11 minutes');
    await insert('upl-live', [underWay], '1 minute');
    for (let index = 0; index < 6; index += 1) await runReaper();
    const kept = new Set(await listBlobs());
    for (const digest of lost) expect(kept).not.toContain(digest.slice('sha256:'.length));
    for (const digest of [...shared, underWay]) expect(kept).toContain(digest.slice(7));
    expect(kept).toContain(digestOf('under way').slice(7));
    await control.sql('delete from uploads');
  });
});

describe('an upload that is given up for dead', () => {
  it('is of no world any more once one of its blobs may be gone', async () => {
    const db = openDatabase(new Secret(database.url), createLog('test', 'silent'));
    try {
      const upload = { id: 'upl-slow', projectId: greedy.projectId, bytes: 1 };
      const blobs = Array.from({ length: 100 }, (_, index) => digestOf(`slow ${index}`));
      expect(await beginUpload(db, { ...upload, blobs }, control.config.quotas)).toBeUndefined();
      await control.sql(`update uploads set began_at = now() - interval '11 minutes'`);
      await runReaper();
      expect(await countUploads()).toBe(1);
      expect(await finishUpload(db, upload.id)).toBe(false);
      await runReaper();
      expect(await countUploads()).toBe(0);
    } finally {
      await db.close();
    }
  });
});

describe('blobs that are being removed', () => {
  const begin = (db: Database, id: string, ...names: string[]) =>
    beginUpload(
      db,
      { id, projectId: greedy.projectId, blobs: names.map((name) => digestOf(name)), bytes: 1 },
      control.config.quotas,
    );

  it('keep no other upload waiting, and none that needs them begins before they are gone', async () => {
    const db = openDatabase(new Secret(database.url), createLog('test', 'silent'));
    try {
      await begin(db, 'upl-dead', 'shared', 'doomed');
      await control.sql(`update uploads set began_at = '-infinity'`);
      await begin(db, 'upl-other', 'shared');
      const asked = Promise.withResolvers<void>();
      const gone = Promise.withResolvers<void>();
      const removed: string[] = [];
      const collecting = collectUpload(db, (digest) => {
        removed.push(digest);
        asked.resolve();
        return gone.promise;
      });
      await asked.promise;
      expect(removed).toEqual([digestOf('doomed')]);
      expect(await begin(db, 'upl-free', 'free')).toBeUndefined();
      let hasBegun = false;
      const needing = begin(db, 'upl-needing', 'doomed').then(() => {
        hasBegun = true;
      });
      // Nobody else removes what is being removed, and nothing that an upload has begun to need.
      expect(await collectUpload(db, () => Promise.reject(new Error('twice')))).toBe(0);
      expect(hasBegun).toBe(false);
      gone.resolve();
      expect(await collecting).toBe(1);
      await needing;
      expect(await countUploads()).toBe(3);
    } finally {
      await control.sql('delete from uploads');
      await db.close();
    }
  });

  it('stay doomed when they cannot be removed, and are as long as a version is not looked at', async () => {
    const db = openDatabase(new Secret(database.url), createLog('test', 'silent'));
    const remove = () => Promise.resolve();
    try {
      await begin(db, 'upl-dead', 'a', 'b');
      await control.sql(`update uploads set began_at = '-infinity'`);
      await control.sql('create table seen as select id, blobs from versions');
      await control.sql('update versions set blobs = null');
      expect(await collectUpload(db, remove)).toBe(0);
      await control.sql('update versions v set blobs = s.blobs from seen s where s.id = v.id');
      const failing = (digest: string) =>
        digest === digestOf('a') ? Promise.reject(new Error('away')) : remove();
      await expect(collectUpload(db, failing)).rejects.toThrow('away');
      expect(await control.sql('select digest from doomed_blobs')).toEqual([
        { digest: digestOf('a') },
      ]);
      expect(await collectUpload(db, remove)).toBe(1);
      expect(await countUploads()).toBe(0);
    } finally {
      await control.sql('drop table if exists seen');
      await control.sql('delete from uploads');
      await db.close();
    }
  });
});

const entry = (id: number, size: number) => ({
  id,
  at: new Date(Date.UTC(2026, 0, 1) + id).toISOString(),
  via: 'api',
  operation: null,
  method: 'GET',
  path: '/notes',
  status: 200,
  request: null,
  response: 'x'.repeat(size),
  duration_ms: 1,
  changes: {},
  rows: [],
  call_id: null,
});

describe('what is kept of requests', () => {
  const fill = async (project: Neighbour, isClosed: boolean): Promise<string> => {
    const { id, host } = await openOn(project);
    await host.requests(Array.from({ length: 6 }, (_, index) => entry(index + 1, 100_000)));
    if (isClosed) {
      await control.sql(
        `update sessions set state = 'CLOSED', end_reason = 'requested',
           closed_at = now() - interval '2 minutes' where id = $1`,
        [id],
      );
    }
    return id;
  };
  const kept = async (id: string) =>
    (
      await control.sql<{ count: number }>(
        'select count(*)::int as count from requests where session_id = $1',
        [id],
      )
    )[0]?.count;

  it('makes room from the oldest closed session on, and says what was dropped', async () => {
    const oldest = await fill(greedy, true);
    const newer = await fill(greedy, true);
    const open = await fill(greedy, false);
    const theirs = await fill(other, true);
    await control.sql(
      `update projects set ledger_checked_at = case when id in ($1, $2) then '-infinity' else now() end`,
      [greedy.projectId, other.projectId],
    );
    for (let index = 0; index < 4; index += 1) await runReaper();
    expect([await kept(oldest), await kept(open), await kept(theirs)]).toEqual([0, 6, 6]);
    expect(await kept(newer)).toBe(0);
    const [noted] = await control.sql(
      'select bytes::int, dropped_entries, dropped_at is not null as noted from ledgers where session_id = $1',
      [oldest],
    );
    expect(noted).toEqual({ bytes: 0, dropped_entries: 6, noted: true });
    const [total] = await control.sql<{ bytes: number }>(
      'select sum(bytes)::int as bytes from ledgers where project_id = $1',
      [greedy.projectId],
    );
    expect(total?.bytes).toBeLessThanOrEqual(1024 * 1024);
  });

  it('makes room from deliveries of open sessions when no closed one is left', async () => {
    const open = await fill(greedy, false);
    await control.sql(
      `update requests set via = 'webhook', bytes = $1::int where session_id = $2 and id < 6`,
      [10 * 1024 * 1024, open],
    );
    await control.sql(`update ledgers set bytes = $1 where session_id = $2`, [
      50 * 1024 * 1024,
      open,
    ]);
    await control.sql(
      `update projects set ledger_checked_at = case when id = $1 then '-infinity' else now() end`,
      [greedy.projectId],
    );
    await runReaper();
    expect(await kept(open)).toBe(2);
    const [noted] = await control.sql('select dropped_entries from ledgers where session_id = $1', [
      open,
    ]);
    expect(noted).toEqual({ dropped_entries: 4 });
  });

  it('is counted anew where it was counted wrongly', async () => {
    const id = await fill(greedy, true);
    await control.sql('update ledgers set bytes = 5 where session_id = $1', [id]);
    await control.sql('delete from requests where session_id = $1 and id < 3', [id]);
    const bytes = async () =>
      (
        await control.sql<{ bytes: number }>(
          'select bytes::int from ledgers where session_id = $1',
          [id],
        )
      )[0]?.bytes;
    expect(await bytes()).toBe(0);
    await control.sql('update ledgers set bytes = 5000000 where session_id = $1', [id]);
    await control.sql('delete from requests where session_id = $1', [id]);
    await control.sql('update ledgers set bytes = 5000000 where session_id = $1', [id]);
    await control.sql(`update projects set ledger_checked_at = now()`);
    await control.sql(`update projects set ledger_checked_at = '-infinity' where id = $1`, [
      greedy.projectId,
    ]);
    await runReaper();
    expect(await bytes()).toBe(0);
  });

  it('makes room in other projects when it fails in one', async () => {
    const id = await fill(greedy, true);
    const newer = await fill(greedy, true);
    await control.sql(`update projects set ledger_checked_at = now()`);
    await control.sql(`update projects set ledger_checked_at = '-infinity' where id = $1`, [
      greedy.projectId,
    ]);
    await control.sql(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$`,
    );
    await control.sql(
      'create trigger refuse before delete on requests for each row execute function refuse()',
    );
    const db = openDatabase(new Secret(database.url), createLog('test', 'silent'));
    try {
      await expect(trimLedgers(db, 1)).rejects.toThrow('no');
      const [project] = await control.sql(
        `select ledger_checked_at > now() - interval '10 seconds' as looked from projects where id = $1`,
        [greedy.projectId],
      );
      expect(project).toEqual({ looked: true });
      expect([await kept(id), await kept(newer)]).toEqual([6, 6]);
    } finally {
      await control.sql('drop function refuse cascade');
      await db.close();
    }
  });
});

describe('links', () => {
  it('are no more at once than the quota', async () => {
    const { id } = await openOn(greedy);
    const theirs = await openOn(other);
    await control.sql(`update sessions set surfaces = '{ui}' where id in ($1, $2)`, [
      id,
      theirs.id,
    ]);
    const make = (project: Neighbour, session: string, count: number) =>
      askAll(project, count, `/world-sessions/${session}/links`, () => ({ surface: 'ui' }));
    const answers = await make(greedy, id, 12);
    expect(taken(answers)).toBe(quotas.links);
    expectRefusals(answers, 'links', quotas.links);
    expect(taken(await make(other, theirs.id, 1))).toBe(1);
    await control.sql(`update surface_links set expires_at = now() - interval '1 second'`);
    expect(taken(await make(greedy, id, 1))).toBe(1);
  });
});

describe('a flood of requests', () => {
  it('waits for itself: what another project asks meanwhile is answered before most of it', async () => {
    const theirs = await openOn(other);
    const order: string[] = [];
    const ask = (project: Neighbour, name: string, path: string) =>
      project.ask('GET', path).then(({ status }) => {
        expect(status).toBe(200);
        order.push(name);
      });
    // Known keys are not looked up.
    await ask(greedy, 'first', '/world-sessions');
    const flood = Array.from({ length: 400 }, () => ask(greedy, 'greedy', '/world-sessions'));
    const one = ask(other, 'other', `/world-sessions/${theirs.id}`);
    await Promise.all([...flood, one]);
    expect(order.indexOf('other')).toBeLessThan(200);
  });
});

describe('operators', () => {
  it('are told by the doctor which project is near which quota', async () => {
    await control.sql('update projects set quota_worlds = 1 where id = $1', [greedy.projectId]);
    const { body } = await control.admin(examine, {});
    const found = body.checks.find(({ name }) => name === 'quotas');
    expect(found).toMatchObject({ status: 'warning', fix: expect.stringContaining('quota_') });
    expect(found?.message).toContain(`${greedy.projectId} has 1 of 1 ("worlds")`);
    expect(found?.message).not.toContain(other.projectId);
  });
});

describe('a project whose queries take long', () => {
  /** Fills all turns of a project with statements that wait until they are let go. */
  const blocked = async (work: (db: Database, projectId: string) => Promise<void>) => {
    const [db, holder] = ['a', 'b'].map(() => openDatabase(new Secret(database.url), quiet));
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

  it('has no more than a share of the connections, however long its queries take', async () => {
    await blocked(async (db) => {
      const one = statement('one', 'select 1 as one');
      const asked = forProject('prj-other', () =>
        Promise.all([1, 2, 3].map(() => db.query(one, []))),
      );
      expect(await asked).toEqual([1, 2, 3].map(() => [{ one: 1 }]));
      expect(db.connections()).toMatchObject({ waiting: 15, most: 10 });
    });
  });

  it('does not hold up the news of others that leaves with its own', async () => {
    const config = { databaseUrl: new Secret(database.url) };
    const hearing = startNotices(config, { query: async () => [] }, quiet);
    const heard = hearing.watch('news-of-other');
    await heard.next(10_000); // it listens now
    await blocked(async (db, projectId) => {
      const telling = startNotices(config, db, quiet);
      forProject(projectId, () => telling.tell('news-of-greedy'));
      forProject('prj-other', () => telling.tell('news-of-other'));
      expect((await heard.next(10_000)).told).toBe(true);
      await telling.stop();
    });
    await hearing.stop();
  });
});
