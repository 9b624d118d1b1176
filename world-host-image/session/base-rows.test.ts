import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import { openSnapshotFiles, type SnapshotFiles } from '#store/files/snapshot-files.ts';
import { buildSnapshot } from '#store/snapshot.ts';
import { sampleContract, sampleRows } from '#test/support/worlds/sample-contract.ts';
import { createBaseRows } from './base-rows.ts';

const contract = sampleContract();
const small = buildSnapshot(contract, sampleRows);
const large = buildSnapshot(contract, {
  users: Array.from({ length: 20 }, (_, id) => ({
    login: `user ${id}`,
    id,
    profile: { name: 'x'.repeat(2 ** 20) },
  })),
});

let folder: string;
let files: SnapshotFiles | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-base-rows-'));
  files = undefined;
});
afterEach(async () => {
  await files?.close();
  await rm(folder, { recursive: true });
});

const digestOf = (bytes: Uint8Array): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

const openRows = createBaseRows({
  async openFiles() {
    files ??= await openSnapshotFiles({ folder, mostBytes: 2 ** 26 });
    return files;
  },
  check: (digest, bytes) => {
    expect(digestOf(bytes)).toBe(digest);
    return bytes;
  },
});

/** Returns a source whose first `broken` reads break off. */
const sourceOf = (bytes: Uint8Array, broken: number) => {
  let reads = 0;
  return {
    digest: digestOf(bytes),
    reads: () => reads,
    async read() {
      reads += 1;
      const breaks = reads <= broken;
      return Readable.from(
        (function* () {
          yield bytes.subarray(0, 100);
          if (breaks) throw new AppError('unavailable', 'broke off');
          yield bytes.subarray(100);
        })(),
        { objectMode: false },
      );
    },
  };
};

it('a small world is opened in memory, without a file', async () => {
  const { store, release } = await openRows(contract, sourceOf(small.bytes, 0));
  expect(store.scanDigest()).toBe(small.digest);
  expect(files).toBeUndefined();
  await release();
});

it('a large world is opened from a file, which is fetched once for all sessions', async () => {
  const source = sourceOf(large.bytes, 0);
  const first = await openRows(contract, source);
  const second = await openRows(contract, source);
  expect(await files?.has(source.digest)).toBe(true);
  await first.store.atomically(() => first.store.insert('users', { login: 'z', id: 99 }));
  expect(second.store.count('users')).toBe(20);
  expect(second.store.scanDigest()).toBe(large.digest);
  await Promise.all([first.release(), second.release()]);
});

it('an interrupted fetch resumes where it broke off, and fails after several attempts', async () => {
  const source = sourceOf(large.bytes, 2);
  const { store, release } = await openRows(contract, source);
  expect([source.reads(), store.count('users')]).toEqual([3, 20]);
  await release();
  await expect(openRows(contract, sourceOf(small.bytes, 3))).rejects.toThrow('broke off');
});
