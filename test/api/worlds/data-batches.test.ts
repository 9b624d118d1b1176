/** Tests import batches: opened, uploaded in chunks, sealed and processed. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reap } from '#wire/pool-api/operations.ts';
import {
  cancelBatch,
  createBatch,
  deleteWorld,
  getWorld,
  importData,
  listBatches,
  publishData,
  registerChunk,
} from '#wire/public-api/operations.ts';
import { type Chunk, chunkOf, senderTo } from '../../support/control/batches.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
let sender: ReturnType<typeof senderTo>;
const params = { slug: 'notes' };

beforeAll(async () => {
  control = await startNotesControl();
  sender = senderTo(control, 'notes');
});

afterAll(() => control.stop());

const head = async () => (await control.read(getWorld, { params })).body.version;
let last = 1_000;
/** Builds folders with ids that no other test uses. */
const folders = (count: number) =>
  Array.from({ length: count }, () => {
    last += 1;
    return { id: last, name: `folder ${last}` };
  });
const tidy = () =>
  control.pool(reap, {
    body: { idleMs: 600_000, maxAgeMs: 600_000, provisionMs: 600_000, closingMs: 600_000 },
  });
/** Returns the uploads that still hold bytes of a batch's chunks. */
const heldOf = (batchId: string) =>
  control.sql(
    `select u.id from uploads u join data_chunks c on c.id = u.id
      where c.batch_id = $1 and u.began_at > '-infinity'`,
    [batchId],
  );
const noRunner = () => control.sql(`update data_batches set lease_until = now()`);

describe('an import batch', () => {
  it('goes from open to published, and every row of its chunks is imported', async () => {
    const before = await head();
    const batchId = await sender.open({ message: 'two chunks', expectedChunks: 2 });
    expect(await sender.read(batchId)).toMatchObject({
      state: 'open',
      limits: { chunkBytes: 8_388_608 },
    });
    const first = await sender.sendChunk(batchId, 0, chunkOf(folders(3), 'folders'));
    expect(first).toMatchObject({ ordinal: 0, uploaded: true });
    expect(await sender.read(batchId)).toMatchObject({
      ...{ state: 'uploading', chunkCount: 1 },
      progress: { phase: 'uploading', validatedChunks: 0, appliedRows: 0 },
    });
    const rows = folders(2).map((row) => ({ entity: 'folders', row }));
    await sender.sendChunk(batchId, 1, chunkOf(rows));
    expect((await sender.complete(batchId)).state).toBe('queued');
    const ended = await sender.end(batchId);
    expect(ended).toMatchObject({
      ...{ state: 'published', rowCount: 5, landed: { folders: 5 } },
      progress: { phase: 'published', validatedChunks: 2, appliedRows: 5 },
    });
    const after = await head();
    expect(after).toMatchObject({ id: ended.versionId, origin: 'import', message: 'two chunks' });
    expect(after.entityCounts).toEqual(ended.entityCounts);
    expect(after.entityCounts.folders).toBe((before.entityCounts.folders ?? 0) + 5);
    expect(await sender.complete(batchId)).toMatchObject({ state: 'published' });
  });

  it('is opened once for one Idempotency-Key, which is refused with another body', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const open = (body: object) => control.send(createBatch, { params, body, headers });
    const answers = await Promise.all([open({}), open({}), open({})]);
    expect(new Set(answers.map(({ body }) => body.batchId)).size).toBe(1);
    await expect(open({ mode: 'merge' })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('registers the same chunk once, and allows a replacement of the chunk only until the chunk is confirmed', async () => {
    const batchId = await sender.open();
    const [one, two, three] = [folders(1), folders(2), folders(3)].map((rows) =>
      chunkOf(rows, 'folders'),
    ) as [Chunk, Chunk, Chunk];
    const first = await sender.register(batchId, 0, one);
    expect(first).toMatchObject({ uploaded: false, uploadUrl: expect.any(String) });
    expect((await sender.register(batchId, 0, one)).chunkId).toBe(first.chunkId);
    const other = await sender.register(batchId, 0, two);
    expect(other.chunkId).not.toBe(first.chunkId);
    expect((await sender.put(first, one.bytes)).status).toBe(403);
    await expect(sender.confirm(batchId, first.chunkId)).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(sender.confirm(batchId, other.chunkId)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect((await sender.put(other, two.bytes)).status).toBe(200);
    const confirmed = await sender.confirm(batchId, other.chunkId);
    expect(await sender.confirm(batchId, other.chunkId)).toEqual(confirmed);
    await expect(sender.register(batchId, 0, three)).rejects.toMatchObject({ code: 'conflict' });
    await sender.complete(batchId);
    await sender.end(batchId);
    await expect(sender.register(batchId, 1, three)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('does not ask for bytes of a chunk that the world has already', async () => {
    const chunk = chunkOf(folders(1), 'folders');
    await sender.send({}, chunk);
    const again = await sender.open({ mode: 'merge' });
    expect(await sender.register(again, 0, chunk)).toEqual(
      expect.not.objectContaining({ uploadUrl: expect.anything() }),
    );
    expect((await sender.read(again)).state).toBe('uploading');
    await sender.complete(again);
    expect((await sender.end(again)).state).toBe('published');
  });

  it('is not sealed while chunks are unconfirmed, or with a count other than expected', async () => {
    const batchId = await sender.open({ expectedChunks: 3 });
    await expect(sender.complete(batchId)).rejects.toMatchObject({ code: 'conflict' });
    await sender.sendChunk(batchId, 0, chunkOf(folders(1), 'folders'));
    await sender.register(batchId, 4, chunkOf(folders(1), 'folders'));
    const seal = sender.complete(batchId);
    await expect(seal).rejects.toMatchObject({ code: 'conflict', detail: { unconfirmed: [4] } });
    await sender.sendChunk(batchId, 4, chunkOf(folders(1), 'folders'));
    await expect(sender.complete(batchId)).rejects.toMatchObject({
      detail: { chunks: 2, expectedChunks: 3 },
    });
    await sender.sendChunk(batchId, 7, chunkOf(folders(1), 'folders'));
    expect((await sender.complete(batchId)).state).toBe('queued');
    expect((await sender.end(batchId)).state).toBe('published');
  });

  it('with refused rows shows the first 200, and its report contains all of them', async () => {
    const before = await head();
    const wrong = Array.from({ length: 300 }, (_, id) => ({ id: `x${id}`, name: 'n' }));
    const ended = await sender.send({}, chunkOf(wrong, 'folders'));
    expect(ended).toMatchObject({ state: 'refused', refused: 300, versionId: null });
    expect(ended.refusals).toHaveLength(200);
    expect(ended.refusals[7]).toMatchObject({ chunk: 0, index: 7, entity: 'folders', field: 'id' });
    const report = await fetch(sender.here(ended.reportUrl ?? ''));
    expect((await report.text()).trim().split('\n')).toHaveLength(300);
    expect(await head()).toEqual(before);
    await expect(sender.complete(ended.batchId)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('can be cancelled at any time before it is published, and then releases its bytes', async () => {
    const batchId = await sender.open();
    const chunk = chunkOf(folders(2), 'folders');
    await sender.sendChunk(batchId, 0, chunk);
    const off = await control.send(cancelBatch, { params: { ...params, batchId } });
    expect(off.body).toMatchObject({ state: 'failed', error: { code: 'cancelled' } });
    await tidy();
    expect((await sender.read(batchId)).chunkCount).toBe(1);
    expect(await heldOf(batchId)).toEqual([]);
    await expect(sender.complete(batchId)).rejects.toMatchObject({ detail: { unconfirmed: [0] } });
    const published = await sender.send({}, chunkOf(folders(1), 'folders'));
    const over = control.send(cancelBatch, { params: { ...params, batchId: published.batchId } });
    await expect(over).rejects.toMatchObject({ code: 'conflict' });
  });

  it('that does not exist is not found', async () => {
    const missing = { ...params, batchId: 'bat-00000000000000000000000000' };
    const body = { ordinal: 0, digest: 'a'.repeat(64), bytes: 1, rows: 1 };
    await expect(control.send(registerChunk, { params: missing, body })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('is listed newest first, by a cursor that stays valid when new batches are added', async () => {
    for (let count = 0; count < 3; count += 1) await sender.open({ message: `list ${count}` });
    const page = (await control.read(listBatches, { params, query: { limit: 2 } })).body;
    expect(page.data.map(({ message }) => message)).toEqual(['list 2', 'list 1']);
    await sender.open({ message: 'later' });
    const query = { limit: 2, cursor: page.meta.nextCursor ?? '' };
    const next = (await control.read(listBatches, { params, query })).body;
    expect(next.data[0]?.message).toBe('list 0');
  });
});

describe('batches with publish: later', () => {
  it('wait, each based on the rows of the earlier ones, and are published together as one version', async () => {
    const before = await head();
    const [parent] = folders(1);
    const later = { publish: 'later' } as const;
    const first = await sender.send(later, chunkOf([parent], 'folders'));
    expect(first).toMatchObject({
      state: 'applied',
      versionId: null,
      snapshotId: expect.any(String),
    });
    const child = { id: last, folder_id: parent?.id, title: 'a note', done: false };
    const second = await sender.send(later, chunkOf([child], 'notes'));
    expect(second.state).toBe('applied');
    expect(await head()).toEqual(before);
    // Another version is created meanwhile. The waiting batches are rebased onto it.
    await control.send(importData, { params, body: { rows: { folders: folders(1) } } });
    const { status, body } = await control.send(publishData, { params, body: { message: 'both' } });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      batches: [first.batchId, second.batchId],
      version: { number: before.number + 2, origin: 'publish', message: 'both' },
    });
    const after = await head();
    expect(after.entityCounts).toEqual({
      folders: (before.entityCounts.folders ?? 0) + 2,
      notes: (before.entityCounts.notes ?? 0) + 1,
    });
    expect(await sender.read(first.batchId)).toMatchObject({
      state: 'published',
      versionId: after.id,
    });
    await expect(control.send(publishData, { params, body: {} })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('are published without the cancelled batches', async () => {
    const before = await head();
    const later = { publish: 'later' } as const;
    const off = await sender.send(later, chunkOf(folders(5), 'folders'));
    await sender.send(later, chunkOf(folders(2), 'folders'));
    await control.send(cancelBatch, { params: { ...params, batchId: off.batchId } });
    await control.send(publishData, { params, body: {} });
    expect((await head()).entityCounts.folders).toBe((before.entityCounts.folders ?? 0) + 2);
  });
});

describe('uploaded bytes of chunks', () => {
  it('of a batch without redaction are kept for 8 days, and then deleted', async () => {
    const { batchId } = await sender.send({}, chunkOf(folders(1), 'folders'));
    await tidy();
    expect(await heldOf(batchId)).toHaveLength(1);
    await control.sql(
      `update data_batches set updated_at = now() - interval '8 days' where id = $1`,
      [batchId],
    );
    await tidy();
    expect(await heldOf(batchId)).toEqual([]);
  });

  it('count towards the quota of their project, and uploads beyond it are refused', async () => {
    await control.sql('update projects set quota_blob_mib = 1');
    const batchId = await sender.open();
    const body = { ordinal: 0, digest: 'a'.repeat(64), bytes: 2_000_000, rows: 1 };
    await expect(
      control.send(registerChunk, { params: { ...params, batchId }, body }),
    ).rejects.toMatchObject({ code: 'exhausted', detail: { quota: 'blob_mib' } });
    await control.sql('update projects set quota_blob_mib = null');
  });

  it('have limits on size, rows and ordinal', async () => {
    const batchId = await sender.open({ entities: ['folders'] });
    const body = { ordinal: 0, digest: 'a'.repeat(64), bytes: 1_000, rows: 1 };
    const wrong = [
      { ...body, bytes: 8_388_609 },
      { ...body, bytes: 0 },
      { ...body, ordinal: 10_000 },
      { ...body, ordinal: -1 },
      { ...body, rows: 1_000_001 },
      { ...body, digest: 'A'.repeat(64) },
      { ...body, entity: 'notes' },
      { ...body, entity: 'missing' },
    ];
    for (const each of wrong) {
      const register = control.send(registerChunk, { params: { ...params, batchId }, body: each });
      await expect(register).rejects.toMatchObject({ code: 'invalid' });
    }
  });
});

describe('the job of a batch', () => {
  it('is continued by another worker when its worker is lost, and creates one version', async () => {
    const before = await head();
    const batchId = await sender.open();
    await sender.sendChunk(batchId, 0, chunkOf(folders(2_000), 'folders'));
    await sender.complete(batchId);
    await noRunner();
    expect((await sender.end(batchId)).state).toBe('published');
    expect(await head()).toMatchObject({ number: before.number + 1 });
  });

  it('ends when its world is deleted, and its rows are deleted with it', async () => {
    const waiting = await sender.open();
    await sender.sendChunk(waiting, 0, chunkOf(folders(1), 'folders'));
    const applied = await sender.send({ publish: 'later' }, chunkOf(folders(1), 'folders'));
    await control.send(deleteWorld, { params });
    await expect(sender.open()).rejects.toMatchObject({ code: 'not_found' });
    for (let run = 0; run < 5; run += 1) await tidy();
    const rows = await control.sql<{ id: string; state: string; snapshot: string | null }>(
      'select id, state, snapshot from data_batches where id = any($1)',
      [[waiting, applied.batchId]],
    );
    expect(rows.map(({ snapshot }) => snapshot)).toEqual([null, null]);
    expect(rows.find(({ id }) => id === waiting)?.state).toBe('failed');
    expect(await heldOf(waiting)).toEqual([]);
    expect(await heldOf(applied.batchId)).toEqual([]);
    const held = `select id from uploads where began_at > '-infinity'`;
    expect(await control.sql(held)).toEqual([]);
  });
});
