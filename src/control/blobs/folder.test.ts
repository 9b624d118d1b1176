import { mkdtemp, readdir, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Blobs } from './blobs.ts';
import { openFolderBlobs } from './folder.ts';

let folder: string;
let blobs: Blobs;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-blobs-'));
  blobs = await openFolderBlobs(join(folder, 'deep', 'blobs'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const bytes = new TextEncoder().encode('some bytes');
const filesIn = async () =>
  (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );

describe('a folder of blobs', () => {
  it('gives back what it was given, under the digest of it', async () => {
    const digest = await blobs.put(bytes);
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(new Uint8Array(await blobs.get(digest))).toEqual(bytes);
  });

  it('holds equal bytes once, however many put them at once', async () => {
    const digests = await Promise.all(Array.from({ length: 10 }, () => blobs.put(bytes)));
    expect(new Set(digests).size).toBe(1);
    expect(await filesIn()).toHaveLength(1);
  });

  it('writes a file again that is not whole', async () => {
    const digest = await blobs.put(bytes);
    const [file] = await filesIn();
    await truncate(join(file?.parentPath ?? '', file?.name ?? ''), 3);
    await blobs.put(bytes);
    expect(new Uint8Array(await blobs.get(digest))).toEqual(bytes);
  });

  it('says what it does not have', async () => {
    await expect(blobs.get(`sha256:${'0'.repeat(64)}`)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('says that it cannot be used', async () => {
    await expect(openFolderBlobs('/dev/null/blobs')).rejects.toMatchObject({ code: 'unavailable' });
    await rm(join(folder, 'deep'), { recursive: true });
    await expect(blobs.check()).rejects.toMatchObject({ code: 'unavailable' });
  });
});
