/** Tests the stored bytes of a project's files: when they are deleted, their quota, and bytes in a bucket. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openFolderBlobs } from '../../../src/control/platform/blobs/folder.ts';
import { driveOf, sumOf, tidy } from '../../support/control/file-uploads.ts';
import {
  type OwnControl,
  startNotesControl,
  startOwnControl,
} from '../../support/control/own-control.ts';
import { startTestBucket, type TestBucket } from '../../support/programs/s3.ts';

const code = (value: string) => expect.objectContaining({ code: value });
let control: OwnControl;
let drive: ReturnType<typeof driveOf>;

beforeAll(async () => {
  control = await startNotesControl();
  drive = driveOf(control);
});
afterAll(() => control.stop());

describe('bytes of files', () => {
  const left = () => control.sql<{ bytes: string }>('select bytes from kept_bytes');
  const stored = async (text: string) => {
    const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
    const { blobs } = control.config;
    if (blobs.kind !== 'folder') throw new Error('the blobs are not in a folder');
    return (await openFolderBlobs(blobs.folder))
      .size(digest as never)
      .then(() => true)
      .catch(() => false);
  };

  it('are deleted once no file refers to them, and not before', async () => {
    for (let turn = 0; turn < 6; turn += 1) await tidy(control);
    const text = randomBytes(20).toString('hex');
    await drive.put('bytes/a.txt', text);
    await drive.put('bytes/b.txt', text);
    const [before] = await left();
    await drive.remove('bytes/a.txt');
    for (let turn = 0; turn < 3; turn += 1) await tidy(control);
    expect(await stored(text)).toBe(true);
    await drive.remove('bytes');
    for (let turn = 0; turn < 6; turn += 1) await tidy(control);
    expect(await stored(text)).toBe(false);
    const [after] = await left();
    expect(Number(before?.bytes) - Number(after?.bytes)).toBe(2 * text.length);
    expect(await control.sql('select from file_folders where deleted_at is not null')).toEqual([]);
  });

  it('of an unconfirmed upload are kept for a day, and then deleted', async () => {
    const text = randomBytes(20).toString('hex');
    const upload = await drive.request('late.txt', text);
    await drive.send(upload, text);
    await control.sql(
      `update uploads set began_at = began_at - interval '1 hour' where began_at <> 'infinity'`,
    );
    for (let turn = 0; turn < 3; turn += 1) await tidy(control);
    expect(await stored(text)).toBe(true);
    await control.sql(
      `update awaited_files set created_at = now() - interval '25 hours' where id = $1`,
      [upload.fileId],
    );
    for (let turn = 0; turn < 6; turn += 1) await tidy(control);
    expect(await stored(text)).toBe(false);
    await expect(drive.confirm(upload.fileId)).rejects.toEqual(code('not_found'));
  });
});

describe('a project at its storage quota', () => {
  it('refuses an upload until a file is deleted', async () => {
    const own = await startOwnControl({ quotas: { blobMib: 1 } });
    try {
      const small = driveOf(own);
      const text = 'x'.repeat(700_000);
      await small.put('a.txt', text);
      await expect(small.request('b.txt', text)).rejects.toMatchObject({
        code: 'exhausted',
        detail: { quota: 'blob_mib' },
      });
      await small.remove('a.txt');
      await small.put('b.txt', text);
    } finally {
      await own.stop();
    }
  });
});

describe('with blobs in a bucket', () => {
  let bucket: TestBucket;
  let own: OwnControl;
  let far: ReturnType<typeof driveOf>;

  beforeEach(async () => {
    bucket = await startTestBucket();
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    for (const [name, value] of Object.entries(bucket.keys)) vi.stubEnv(name, value);
    own = await startOwnControl({ blobs: bucket.place });
    far = driveOf(own);
  });
  afterEach(async () => {
    await own.stop();
    await bucket.stop();
    vi.unstubAllEnvs();
  });

  it('a file is uploaded to the bucket itself, must match its announced digest, and is read from there', async () => {
    const upload = await far.request('a/b.txt', 'hello');
    expect(upload.uploadUrl.startsWith(bucket.door.url)).toBe(true);
    expect(upload.uploadHeaders).toMatchObject({
      'content-type': 'text/plain',
      'x-amz-checksum-sha256': sumOf('hello'),
    });
    await expect(far.confirm(upload.fileId)).rejects.toEqual(code('conflict'));
    await far.send(upload, 'other');
    await expect(far.confirm(upload.fileId)).rejects.toMatchObject({
      code: expect.stringMatching(/^(invalid|conflict)$/),
    });
    expect((await far.send(upload, 'hello')).status).toBe(200);
    await far.confirm(upload.fileId);
    const { text, headers } = await far.get('a/b.txt');
    expect(text).toBe('hello');
    expect(headers.get('content-type')).toBe('text/plain');
    const again = await far.request('a/c.txt', 'hello');
    expect(again.held).toBe(true);
    await far.confirm(again.fileId);
    expect((await far.get('a/c.txt')).text).toBe('hello');
  });
});
