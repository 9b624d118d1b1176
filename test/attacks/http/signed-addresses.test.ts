/**
 * Attacks with signed URLs, which permit an upload without a key: a URL allows the upload that it was signed for, and
 * nothing else.
 */
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { Secret } from '#runtime/secret.ts';
import { type Blobs, digestOf } from '../../../src/control/platform/blobs/blobs.ts';
import { createSignedAddresses } from '../../../src/control/platform/blobs/signed.ts';
import { type OwnControl, startNotesControl } from '../../support/control/own-control.ts';

let control: OwnControl;
const chunkId = newId('chk');
const bytes = Buffer.alloc(300_000, 'some bytes ');
const awaited = { digest: digestOf(bytes), bytes: bytes.byteLength };

beforeAll(async () => {
  control = await startNotesControl();
});

afterAll(() => control.stop());

const addressOf = async (what = awaited, secret = control.config.secret) => {
  const baseUrl = () => control.running.addresses.public[0] ?? '';
  const made = createSignedAddresses({ secret, blobs: {} as Blobs, baseUrl });
  return (await made.upload(chunkId, what)).url;
};

/** Registers a chunk whose bytes are expected. */
const hold = async ({ digest, bytes: size } = awaited) => {
  await control.sql(
    `with batch as (
       insert into data_batches (id, world_id, project_id, state, mode, redact, publish, atomic, dry_run, author)
       select 'bat', id, project_id, 'open', 'append', 'off', 'now', true, false, 'pk' from worlds
       returning id, world_id
     )
     insert into data_chunks (id, batch_id, world_id, ordinal, digest, bytes, rows)
     select $3, id, world_id, 0, $1, $2::bigint, 1 from batch on conflict do nothing`,
    [digest, size, chunkId],
  );
};

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

const blobFolder = () =>
  control.config.blobs.kind === 'folder' ? control.config.blobs.folder : '';

const put = async (url: string, body: Buffer, headers: Record<string, string> = {}) => {
  const answer = await fetch(url, { method: 'PUT', headers, body: new Uint8Array(body) });
  return { status: answer.status, body: await answer.text() };
};

/** Uploads without a Content-Length header. */
const stream = (url: string, pieces: readonly Buffer[]) =>
  new Promise<number | undefined>((resolve, reject) => {
    const sent = request(url, { method: 'PUT' }, async (answer) => {
      await text(answer).catch(() => ''); // Only the status matters.
      resolve(answer.statusCode);
    }).on('error', reject);
    for (const piece of pieces) sent.write(piece);
    sent.end();
  });

describe('a signed upload URL', () => {
  it('refuses bytes of a chunk that is not registered', async () => {
    const { status } = await put(await addressOf(), bytes);
    expect(status).toBe(403);
    expect(await filesIn(blobFolder())).not.toContain(awaited.digest.slice('sha256:'.length));
  });

  it('accepts only the bytes that it was signed for, and stores nothing of other bytes', async () => {
    await hold();
    const before = await filesIn(blobFolder());
    const url = await addressOf();
    const wrong = Buffer.from(bytes).fill('x', 7, 8);
    const refusals = [
      await put(url, wrong),
      await put(url, bytes.subarray(1)),
      await put(url, Buffer.concat([bytes, bytes])),
      await put(url, bytes, { 'content-encoding': 'gzip' }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    expect(await stream(url, [bytes, bytes])).toBe(400);
    expect(await stream(url, [bytes.subarray(3)])).toBe(400);
    expect(await filesIn(blobFolder())).toEqual(before);
    expect(await filesIn(join(control.config.workDir, 'received'))).toEqual([]);
    expect(await put(url, bytes)).toMatchObject({ status: 200 });
    expect(await stream(url, [bytes.subarray(0, 9), bytes.subarray(9)])).toBe(200);
    expect(await filesIn(blobFolder())).toHaveLength(before.length + 1);
    expect(await filesIn(join(control.config.workDir, 'received'))).toEqual([]);
  });

  it('is refused after any change to it, or with a signature of another service', async () => {
    const url = await addressOf();
    const changed = [
      url.replace('name=chk', 'name=chk2'),
      url.replace(/bytes=\d+/, 'bytes=5000000000'),
      url.replace(/until=\d+/, 'until=99999999999'),
      url.replace(/signature=.*/, ''),
      url.replace(/blobs\/..../, 'blobs/0000'),
      url.replace('/blobs/', '/blobs/..%2f'),
      await addressOf(awaited, new Secret('of another service')),
    ];
    for (const each of changed) expect((await put(each, bytes)).status).toBe(403);
    expect((await fetch(url)).status).toBe(403);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(405);
  });

  it('does not allow reads, not even with the keys of a project', async () => {
    const authorization = `Bearer ${control.publicKey}`;
    const url = (await addressOf()).split('?')[0] ?? '';
    expect((await fetch(url, { headers: { authorization } })).status).toBe(403);
  });
});
