/** Tests imports whose rows come in one request. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  archiveWorld,
  createWorld,
  getWorld,
  importData,
  listVersions,
} from '#wire/public-api/operations.ts';
import { reachable } from '../../support/control/file-uploads.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';
import { push } from '../../support/control/pushes.ts';
import { encodeTree, notesWorld } from '../../support/worlds/worlds.ts';

let control: OwnControl;
const params = { slug: 'notes' };

beforeAll(async () => {
  control = await startNotesControl();
});

afterAll(() => control.stop());

const head = async () => (await control.read(getWorld, { params })).body.version;
const folder = (id: number, name = `folder ${id}`) => ({ id, name });
const note = (id: number, folder_id: number) => ({
  id,
  folder_id,
  title: `note ${id}`,
  done: false,
});
const importOf = (body: Parameters<typeof control.send<typeof importData>>[1]['body']) =>
  control.send(importData, { params, body });

describe('an import', () => {
  it('creates a version with the rows, and the version has origin "import"', async () => {
    const before = await head();
    const answer = await importOf({
      rows: { notes: [note(900, 900)], folders: [folder(900)] },
      message: 'nine hundred',
    });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        state: 'published',
        rowCount: 2,
        refused: 0,
        landed: { notes: 1, folders: 1 },
        version: { number: before.number + 1, origin: 'import', message: 'nine hundred' },
      },
    });
    const after = await head();
    expect(after.entityCounts).toEqual({
      folders: (before.entityCounts.folders ?? 0) + 1,
      notes: (before.entityCounts.notes ?? 0) + 1,
    });
    const { data } = (await control.read(listVersions, { params })).body;
    expect(data[0]?.changes).toMatchObject({ base: before.number, files: { changed: 0 } });
  });

  it('names the entity, row and field of each error, and writes nothing', async () => {
    const before = await head();
    const rows = { folders: [folder(901), { id: 902 }], notes: [note(901, 77_777)] };
    const refused = await importOf({ rows }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('nothing was written'),
    });
    const { fields, detail } = refused as { fields: { path: string[] }[]; detail: object };
    expect(fields.map(({ path }) => path.slice(0, 3))).toContainEqual(['rows', 'folders', '1']);
    expect(detail).toMatchObject({ refused: expect.any(Number), reportUrl: expect.any(String) });
    const { reportUrl } = detail as { reportUrl: string };
    const report = await fetch(reachable(control, reportUrl));
    expect(report.status).toBe(200);
    expect(await report.text()).toContain('"entity":"folders"');
    expect(await head()).toEqual(before);
  });

  it('validates all rows and writes nothing in a dry run', async () => {
    const before = await head();
    const good = await importOf({ rows: { folders: [folder(903)] }, dryRun: true });
    expect(good).toMatchObject({ status: 200, body: { state: 'applied', versionId: null } });
    const bad = await importOf({ rows: { folders: [{ id: 'x' }] }, dryRun: true });
    expect(bad).toMatchObject({ status: 200, body: { state: 'refused', refused: 1 } });
    expect(await head()).toEqual(before);
  });

  it('is refused at once for unknown entities, conflicting modes, and redaction without a policy', async () => {
    const wrong = [
      { rows: { foldrs: [] } },
      { rows: { folders: [] }, merge: true, mode: 'replace' as const },
      { rows: { folders: [] }, redact: 'apply' as const },
    ];
    for (const body of wrong) {
      await expect(importOf(body)).rejects.toMatchObject({ code: 'invalid' });
    }
    const none = { mode: null, merge: null, redact: null, atomic: null, message: null };
    expect(await importOf({ rows: { folders: [folder(904)] }, ...none })).toMatchObject({
      status: 201,
    });
  });

  it('runs once for one Idempotency-Key, which is refused with another body', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = { rows: { folders: [folder(905)] } };
    const [first, second] = await Promise.all([
      control.send(importData, { params, body, headers }),
      control.send(importData, { params, body, headers }),
    ]);
    expect(second.body).toEqual(first.body);
    const other = { rows: { folders: [folder(906)] } };
    await expect(control.send(importData, { params, body: other, headers })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('is refused in a second world with the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = { rows: { folders: [folder(915)] } };
    await control.send(importData, { params, body, headers });
    const from = encodeTree(notesWorld());
    await control.send(createWorld, { body: { slug: 'elsewhere', from } });
    const sent = control.send(importData, { params: { slug: 'elsewhere' }, body, headers });
    await expect(sent).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('in another world'),
    });
  });

  it('that failed on the storage quota succeeds when it is repeated with its Idempotency-Key', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = { rows: { folders: [folder(916)] } };
    await control.sql(
      `insert into uploads (id, project_id, blobs, bytes, makes_world)
       select 'upl-full', project_id, '{}', 1000000000000, false from worlds limit 1`,
    );
    await expect(control.send(importData, { params, body, headers })).rejects.toMatchObject({
      code: 'exhausted',
    });
    await control.sql(`delete from uploads where id = 'upl-full'`);
    const { body: done } = await control.send(importData, { params, body, headers });
    expect(done).toMatchObject({ state: 'published', landed: { folders: 1 } });
  });

  it('with atomic: false reports how many bad rows it left out', async () => {
    const rows = { folders: [folder(907), folder(907), { id: 'x' }] };
    const { status, body } = await importOf({ rows, atomic: false });
    expect(status).toBe(201);
    expect(body).toMatchObject({ refused: 2, landed: { folders: 1 }, state: 'published' });
  });

  it('into an archived world is refused', async () => {
    await control.send(archiveWorld, { params, body: { archived: true } });
    await expect(importOf({ rows: { folders: [] } })).rejects.toMatchObject({ code: 'conflict' });
    await control.send(archiveWorld, { params, body: { archived: false } });
  });
});

describe('a push after an import', () => {
  it('keeps imported rows, unless it replaces the data', async () => {
    await importOf({ rows: { notes: [], folders: [folder(1, 'mine')] }, mode: 'replace' });
    expect((await head()).entityCounts).toEqual({ folders: 1, notes: 0 });
    const tree = new Map(notesWorld().map((file) => [file.path, file]));
    tree.set('own.md', { path: 'own.md', content: Buffer.from('own') });
    await push(control.send, 'notes', [...tree.values()]);
    expect((await head()).entityCounts).toEqual({ folders: 1, notes: 0 });
    tree.set('own.md', { path: 'own.md', content: Buffer.from('other') });
    await push(control.send, 'notes', [...tree.values()], { data: 'replace' });
    expect((await head()).entityCounts.notes).toBeGreaterThan(0);
  });
});
