/**
 * Tests behavior that only the folder store has; test/contract/platform/blobs.test.ts tests what all stores have in
 * common.
 */
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
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

describe('a folder of blobs', () => {
  it('stores equal bytes once and leaves no temporary files, however many writers store them', async () => {
    const bytes = new TextEncoder().encode('some bytes');
    await Promise.all(Array.from({ length: 10 }, () => blobs.put(bytes)));
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    expect(entries.filter((entry) => entry.isFile())).toHaveLength(1);
  });

  it('reports that it cannot be used', async () => {
    await expect(openFolderBlobs('/dev/null/blobs')).rejects.toMatchObject({ code: 'unavailable' });
    await rm(join(folder, 'deep'), { recursive: true });
    await expect(blobs.check()).rejects.toMatchObject({ code: 'unavailable' });
    await mkdir(join(folder, 'deep'));
    await writeFile(join(folder, 'deep', 'blobs'), 'a file in its place');
    const where = join(folder, 'deep', 'blobs');
    await expect(blobs.check()).rejects.toThrow(`blobs cannot be written to ${where} (ENOTDIR)`);
    await expect(blobs.put(new Uint8Array(1))).rejects.toMatchObject({
      code: 'unavailable',
      message: `blobs cannot be written to ${where} (ENOTDIR)`,
    });
  });

  it('reports a full disk, even if empty files can be created', async () => {
    const where = join(folder, 'deep', 'blobs');
    await blobs.checkDiskSpace?.();
    expect(await readdir(where)).toEqual([]);
    await symlink('/dev/full', join(where, '.room'));
    await expect(blobs.checkDiskSpace?.()).rejects.toMatchObject({
      code: 'unavailable',
      message: `blobs cannot be written to ${where} (ENOSPC)`,
      detail: { full: 'blobs' },
    });
    expect(await readdir(where)).toEqual([]);
  });

  it('opens and serves reads while its disk is full', async () => {
    const where = join(folder, 'deep', 'blobs');
    const digest = await blobs.put(Uint8Array.of(1));
    await symlink('/dev/full', join(where, '.room'));
    const again = await openFolderBlobs(where);
    await again.check();
    expect([...(await again.get(digest))]).toEqual([1]);
  });
});
