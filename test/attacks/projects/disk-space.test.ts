/**
 * Data that projects leave behind: blobs of worlds that were never created, and recorded requests
 * of sessions. Garbage collection frees it, and keeps everything that other worlds need.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '#runtime/log.ts';
import { Secret } from '#runtime/secret.ts';
import { type Database, openDatabase } from '../../../src/control/db/core/database.ts';
import {
  beginUpload,
  collectUpload,
  finishUpload,
} from '../../../src/control/db/projects/uploads.ts';
import { trimLedgers } from '../../../src/control/db/sessions/ledgers.ts';
import { digestOf } from '../../../src/control/platform/blobs/blobs.ts';
import { openFolderBlobs } from '../../../src/control/platform/blobs/folder.ts';
import type { Neighbour } from '../../support/control/second-project.ts';
import {
  startTwoProjects,
  type TwoProjects,
  taken,
  worldOf,
} from '../../support/control/two-projects.ts';

let stage: TwoProjects;
beforeAll(async () => {
  stage = await startTwoProjects();
});
afterAll(() => stage.stop());
beforeEach(() => stage.begin());

describe('worlds', () => {
  it('whose slug was taken by a concurrent request leave no blob behind', async () => {
    const extras = Array.from({ length: 3 }, () => randomBytes(8).toString('hex'));
    const answers = await stage.askAll(stage.greedy, 3, '/worlds', (index) =>
      worldOf('raced', extras[index]),
    );
    expect(taken(answers)).toBe(1);
    for (let index = 0; index < 4; index += 1) await stage.runReaper();
    expect(await stage.countUploads()).toBe(0);
    expect((await stage.listBlobs()).sort()).toEqual((await stage.listUsed()).sort());
  });

  it('whose control plane died leave no blobs behind except those that other worlds use', async () => {
    const { blobs: place } = stage.control.config;
    if (place.kind !== 'folder') throw new Error('blobs are not in a folder');
    const blobs = await openFolderBlobs(place.folder);
    const lost = await Promise.all(
      Array.from({ length: 150 }, (_, index) => blobs.put(Buffer.from(`lost ${index}`))),
    );
    const shared = (await stage.listUsed()).map((hex) => `sha256:${hex}`);
    const underWay = await blobs.put(Buffer.from('under way'));
    const insert = (id: string, digests: string[], age: string) =>
      stage.control.sql(`insert into uploads values ($1, $2, $3, 1, now() - $4::interval)`, [
        id,
        stage.greedy.projectId,
        digests,
        age,
      ]);
    await insert('upl-dead', [...lost, ...shared, underWay], '11 minutes');
    await insert('upl-live', [underWay], '1 minute');
    for (let index = 0; index < 6; index += 1) await stage.runReaper();
    const kept = new Set(await stage.listBlobs());
    for (const digest of lost) expect(kept).not.toContain(digest.slice('sha256:'.length));
    for (const digest of [...shared, underWay]) expect(kept).toContain(digest.slice(7));
    expect(kept).toContain(digestOf('under way').slice(7));
    await stage.control.sql('delete from uploads');
  });
});

describe('an upload that is considered abandoned', () => {
  it('can no longer become a world once one of its blobs may have been removed', async () => {
    const db = openDatabase(new Secret(stage.database.url), createLog('test', 'silent'));
    try {
      const upload = {
        id: 'upl-slow',
        projectId: stage.greedy.projectId,
        makesWorld: true,
        bytes: 1,
      };
      // More blobs than one run of the reaper removes.
      const blobs = Array.from({ length: 1_100 }, (_, index) => digestOf(`slow ${index}`));
      expect(
        await beginUpload(db, { ...upload, blobs }, stage.control.config.quotas),
      ).toBeUndefined();
      await stage.control.sql(`update uploads set began_at = now() - interval '11 minutes'`);
      await stage.runReaper();
      expect(await stage.countUploads()).toBe(1);
      expect(await finishUpload(db, upload.id)).toBe(false);
      await stage.runReaper();
      expect(await stage.countUploads()).toBe(0);
    } finally {
      await db.close();
    }
  });
});

describe('blobs that are being removed', () => {
  const begin = (db: Database, id: string, ...names: string[]) =>
    beginUpload(
      db,
      {
        id,
        projectId: stage.greedy.projectId,
        makesWorld: true,
        blobs: names.map((name) => digestOf(name)),
        bytes: 1,
      },
      stage.control.config.quotas,
    );

  it('delay no upload that does not need them, and delay other uploads until they are gone', async () => {
    const db = openDatabase(new Secret(stage.database.url), createLog('test', 'silent'));
    try {
      await begin(db, 'upl-dead', 'shared', 'doomed');
      await stage.control.sql(`update uploads set began_at = '-infinity'`);
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
      // No second run removes a blob that is already being removed, or one that a new upload needs.
      expect(await collectUpload(db, () => Promise.reject(new Error('twice')))).toBe(0);
      expect(hasBegun).toBe(false);
      gone.resolve();
      expect(await collecting).toBe(1);
      await needing;
      expect(await stage.countUploads()).toBe(3);
    } finally {
      await stage.control.sql('delete from uploads');
      await db.close();
    }
  });

  it('stay marked when their removal fails, and are kept until the blobs of every version are known', async () => {
    const db = openDatabase(new Secret(stage.database.url), createLog('test', 'silent'));
    const remove = () => Promise.resolve();
    try {
      await begin(db, 'upl-dead', 'a', 'b');
      await stage.control.sql(`update uploads set began_at = '-infinity'`);
      await stage.control.sql('create table seen as select id, blobs from versions');
      await stage.control.sql('update versions set blobs = null');
      expect(await collectUpload(db, remove)).toBe(0);
      await stage.control.sql(
        'update versions v set blobs = s.blobs from seen s where s.id = v.id',
      );
      const failing = (digest: string) =>
        digest === digestOf('a') ? Promise.reject(new Error('away')) : remove();
      await expect(collectUpload(db, failing)).rejects.toThrow('away');
      expect(await stage.control.sql('select digest from doomed_blobs')).toEqual([
        { digest: digestOf('a') },
      ]);
      expect(await collectUpload(db, remove)).toBe(1);
      expect(await stage.countUploads()).toBe(0);
    } finally {
      await stage.control.sql('drop table if exists seen');
      await stage.control.sql('delete from uploads');
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

describe('the disk space for recorded requests', () => {
  const fill = async (project: Neighbour, isClosed: boolean): Promise<string> => {
    const { id, host } = await stage.openOn(project);
    await host.requests(Array.from({ length: 6 }, (_, index) => entry(index + 1, 100_000)));
    if (isClosed) {
      await stage.control.sql(
        `update sessions set state = 'CLOSED', end_reason = 'requested',
           closed_at = now() - interval '2 minutes' where id = $1`,
        [id],
      );
    }
    return id;
  };
  const kept = async (id: string) =>
    (
      await stage.control.sql<{ count: number }>(
        'select count(*)::int as count from requests where session_id = $1',
        [id],
      )
    )[0]?.count;

  it('is freed by dropping requests of the oldest closed sessions first, and dropped entries are counted', async () => {
    const oldest = await fill(stage.greedy, true);
    const newer = await fill(stage.greedy, true);
    const open = await fill(stage.greedy, false);
    const theirs = await fill(stage.other, true);
    await stage.control.sql(
      `update projects set ledger_checked_at = case when id in ($1, $2) then '-infinity' else now() end`,
      [stage.greedy.projectId, stage.other.projectId],
    );
    for (let index = 0; index < 4; index += 1) await stage.runReaper();
    expect([await kept(oldest), await kept(open), await kept(theirs)]).toEqual([0, 6, 6]);
    expect(await kept(newer)).toBe(0);
    const [noted] = await stage.control.sql(
      'select bytes::int, dropped_entries, dropped_at is not null as noted from ledgers where session_id = $1',
      [oldest],
    );
    expect(noted).toEqual({ bytes: 0, dropped_entries: 6, noted: true });
    const [total] = await stage.control.sql<{ bytes: number }>(
      'select sum(bytes)::int as bytes from ledgers where project_id = $1',
      [stage.greedy.projectId],
    );
    expect(total?.bytes).toBeLessThanOrEqual(1024 * 1024);
  });

  it('is freed by dropping requests of open sessions when no closed one is left', async () => {
    const open = await fill(stage.greedy, false);
    await stage.control.sql(
      `update requests set via = 'webhook', bytes = $1::int where session_id = $2 and id < 6`,
      [10 * 1024 * 1024, open],
    );
    await stage.control.sql(`update ledgers set bytes = $1 where session_id = $2`, [
      50 * 1024 * 1024,
      open,
    ]);
    await stage.control.sql(
      `update projects set ledger_checked_at = case when id = $1 then '-infinity' else now() end`,
      [stage.greedy.projectId],
    );
    await stage.runReaper();
    expect(await kept(open)).toBe(2);
    const [noted] = await stage.control.sql(
      'select dropped_entries from ledgers where session_id = $1',
      [open],
    );
    expect(noted).toEqual({ dropped_entries: 4 });
  });

  it('is counted again when the count is wrong', async () => {
    const id = await fill(stage.greedy, true);
    await stage.control.sql('update ledgers set bytes = 5 where session_id = $1', [id]);
    await stage.control.sql('delete from requests where session_id = $1 and id < 3', [id]);
    const bytes = async () =>
      (
        await stage.control.sql<{ bytes: number }>(
          'select bytes::int from ledgers where session_id = $1',
          [id],
        )
      )[0]?.bytes;
    expect(await bytes()).toBe(0);
    await stage.control.sql('update ledgers set bytes = 5000000 where session_id = $1', [id]);
    await stage.control.sql('delete from requests where session_id = $1', [id]);
    await stage.control.sql('update ledgers set bytes = 5000000 where session_id = $1', [id]);
    await stage.control.sql(`update projects set ledger_checked_at = now()`);
    await stage.control.sql(`update projects set ledger_checked_at = '-infinity' where id = $1`, [
      stage.greedy.projectId,
    ]);
    await stage.runReaper();
    expect(await bytes()).toBe(0);
  });

  it('is freed in other projects when a trim of one project fails', async () => {
    const id = await fill(stage.greedy, true);
    const newer = await fill(stage.greedy, true);
    await stage.control.sql(`update projects set ledger_checked_at = now()`);
    await stage.control.sql(`update projects set ledger_checked_at = '-infinity' where id = $1`, [
      stage.greedy.projectId,
    ]);
    await stage.control.sql(
      `create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$`,
    );
    await stage.control.sql(
      'create trigger refuse before delete on requests for each row execute function refuse()',
    );
    const db = openDatabase(new Secret(stage.database.url), createLog('test', 'silent'));
    try {
      await expect(trimLedgers(db, 1)).rejects.toThrow('no');
      const [project] = await stage.control.sql(
        `select ledger_checked_at > now() - interval '10 seconds' as looked from projects where id = $1`,
        [stage.greedy.projectId],
      );
      expect(project).toEqual({ looked: true });
      expect([await kept(id), await kept(newer)]).toEqual([6, 6]);
    } finally {
      await stage.control.sql('drop function refuse cascade');
      await db.close();
    }
  });
});
