/** Tests snapshot files that several processes of a machine share, also when one of the processes dies. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Digest } from '#domain/world.ts';
import { until } from '#runtime/pause.ts';
import { openSampleStore, builtSample as sample } from '#test/support/worlds/sample-store.ts';
import { openFile } from './open-file.ts';
import { openSnapshotFiles, type SnapshotFiles } from './snapshot-files.ts';

const mebibyte = 2 ** 20;
let folder: string;
const opened: SnapshotFiles[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-snapshot-files-'));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((files) => files.close()));
  await rm(folder, { recursive: true });
});

const open = async (mostBytes = 64 * mebibyte, mostFileBytes?: number): Promise<SnapshotFiles> => {
  const files = await openSnapshotFiles({ folder, mostBytes, mostFileBytes });
  opened.push(files);
  return files;
};

const digestOf = (bytes: Uint8Array): Digest =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Returns a blob that unpacks to `bytes` bytes. */
const blobOf = (letter: string, bytes: number) => {
  const plain = Buffer.alloc(bytes, letter);
  const packed = zstdCompressSync(plain);
  return { plain, packed, digest: digestOf(packed), read: async () => packed };
};

const never = async (): Promise<Uint8Array> => {
  throw new Error('was read again');
};

/** Returns all non-empty files below the folder. */
const filesThere = async (): Promise<string[]> => {
  const names = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    names.map(
      async (name) => [name, await stat(join(folder, name)).catch(() => undefined)] as const,
    ),
  );
  return sizes.filter(([, found]) => found?.isFile() && found.size > 0).map(([name]) => name);
};

describe('a held snapshot', () => {
  it('is unpacked once, from bytes or a stream, and is one file for all holders', async () => {
    const { plain, packed, digest, read } = blobOf('a', 3 * mebibyte);
    const [one, other] = [await open(), await open()];
    expect(await one.has(digest)).toBe(false);
    const first = await one.hold(digest, async () =>
      Readable.from([packed.subarray(0, 9), packed.subarray(9)]),
    );
    const [second, third] = [await other.hold(digest, never), await one.hold(digest, never)];
    expect((await readFile(first.path)).equals(plain)).toBe(true);
    const inodes = await Promise.all(
      [first, second, third].map(async ({ path }) => (await stat(path)).ino),
    );
    expect(new Set(inodes).size).toBe(1);
    expect(await one.has(digest)).toBe(true);
    await first.release();
    expect((await readFile(third.path)).equals(plain)).toBe(true);
    await third.release();
    await expect(stat(third.path)).rejects.toThrow('ENOENT');
    await (await one.hold(digest, never)).release();
    await second.release();
    expect(await read()).toBe(packed);
  });

  it('is unpacked once for concurrent requests', async () => {
    const { digest, packed } = blobOf('a', mebibyte);
    const all = [await open(), await open(), await open()];
    let reads = 0;
    const read = async () => {
      reads += 1;
      return packed;
    };
    const held = await Promise.all([...all, ...all].map((files) => files.hold(digest, read)));
    expect(reads).toBe(1);
    await Promise.all(held.map(({ release }) => release()));
    await (await all[0]?.hold(digest, never))?.release();
  });

  it('is a read-only database', async () => {
    const files = await open();
    const held = await files.hold(digestOf(sample.bytes), async () => sample.bytes);
    const db = openFile(held.path);
    const store = openSampleStore();
    expect(
      db
        .prepare('SELECT payload FROM issues')
        .all()
        .map((row) => row.payload),
    ).toEqual(store.query('issues'));
    expect(() => db.exec('DELETE FROM issues')).toThrow();
    db.close();
    await truncate(held.path, 10);
    expect(() => openFile(held.path)).toThrow();
  });
});

describe('a file that was written to', () => {
  it('is unpacked again', async () => {
    const { plain, digest, read } = blobOf('a', mebibyte);
    const files = await open();
    const first = await files.hold(digest, read);
    await writeFile(first.path, 'b');
    const again = await files.hold(digest, read);
    expect((await readFile(again.path)).equals(plain)).toBe(true);
    await Promise.all([first.release(), again.release()]);
  });
});

describe('a file derived from a snapshot', () => {
  it('is written once for all holders, and counts towards the size budget', async () => {
    const { digest, read } = blobOf('a', mebibyte);
    const files = await open(4 * mebibyte);
    const store = await files.hold(digest, read);
    const made = (letter: string, bytes: number) =>
      files.holdMade(digest, letter, (path) => writeFile(path, Buffer.alloc(bytes, letter)));
    const [first, second] = await Promise.all([made('x', 9), made('x', 10)]);
    expect(await readFile(second.path, 'utf8')).toBe('xxxxxxxxx');
    await expect(made('y', 4 * mebibyte)).rejects.toMatchObject({ code: 'exhausted' });
    const failing = files.holdMade(digest, 'z', async (path) => {
      await writeFile(path, 'half');
      throw new Error('the writer ended');
    });
    await expect(failing).rejects.toThrow('the writer ended');
    await Promise.all([first, second].map(({ release }) => release()));
    const third = await made('y', 2.5 * mebibyte);
    expect(await readFile((await made('x', 3)).path, 'utf8')).toBe('xxxxxxxxx');
    await Promise.all([store, third].map(({ release }) => release()));
  });
});

describe('a snapshot that cannot be held', () => {
  it('is refused and leaves no file if the digest is wrong, the stream is cut, or the read fails', async () => {
    const { packed, digest } = blobOf('a', mebibyte);
    const other = blobOf('b', mebibyte);
    const files = await open();
    await expect(files.hold(digest, other.read)).rejects.toThrow(`${digest} is ${other.digest}`);
    const cut = packed.subarray(0, packed.length - 5);
    await expect(files.hold(digestOf(cut), async () => cut)).rejects.toThrow('cannot be unpacked');
    await expect(files.hold(digest, never)).rejects.toThrow('was read again');
    const breaks = async () =>
      Readable.from(
        (async function* () {
          yield packed.subarray(0, 9);
          throw new Error('the line broke');
        })(),
      );
    await expect(files.hold(digest, breaks)).rejects.toThrow('the line broke');
    expect(await filesThere()).toEqual([]);
    await (await files.hold(digest, async () => packed)).release();
  });

  it('is refused at the size limit when a small snapshot unpacks to much more', async () => {
    const bomb = blobOf('a', 40 * mebibyte);
    expect(bomb.packed.length).toBeLessThan(mebibyte / 8);
    const files = await open(64 * mebibyte, 8 * mebibyte);
    await expect(files.hold(bomb.digest, bomb.read)).rejects.toMatchObject({
      code: 'exhausted',
      message: expect.stringContaining('unpacks to more than 8 MiB'),
    });
    expect(await filesThere()).toEqual([]);
  });

  it('is refused with the reason when the disk is full', async () => {
    const { digest } = blobOf('a', mebibyte);
    const files = await open();
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const read = async () =>
      new Readable({
        read() {
          this.destroy(full);
        },
      });
    await expect(files.hold(digest, read)).rejects.toMatchObject({
      code: 'exhausted',
      message: expect.stringMatching(/the disk of .* is full/),
    });
  });
});

describe('the size budget', () => {
  it('evicts the least recently used files, and never a held one', async () => {
    const blobs = ['a', 'b', 'c', 'd'].map((letter) => blobOf(letter, 2 * mebibyte));
    const [a, b, c, d] = blobs as [Blob, Blob, Blob, Blob];
    type Blob = (typeof blobs)[number];
    const [files, other] = [await open(7 * mebibyte), await open(7 * mebibyte)];
    const heldA = await other.hold(a.digest, a.read);
    for (const { digest, read } of [b, c]) await (await files.hold(digest, read)).release();
    await (await files.hold(b.digest, never)).release();
    const heldD = await files.hold(d.digest, d.read);
    expect(await Promise.all(blobs.map(({ digest }) => files.has(digest)))).toEqual([
      true,
      true,
      false,
      true,
    ]);
    const heldB = await other.hold(b.digest, never);
    await expect(files.hold(c.digest, c.read)).rejects.toMatchObject({
      code: 'exhausted',
      message: expect.stringContaining('which may hold 7 MiB'),
    });
    expect((await readFile(heldA.path)).equals(a.plain)).toBe(true);
    await heldA.release();
    const heldC = await files.hold(c.digest, c.read);
    expect(await files.has(a.digest)).toBe(false);
    await Promise.all([heldB, heldC, heldD].map(({ release }) => release()));
  });
});

describe('a process that is killed', () => {
  it('releases the files that it held, and another process can unpack the file that it left unfinished', async () => {
    const [a, b] = [blobOf('a', 2 * mebibyte), blobOf('b', 2 * mebibyte)];
    const program = `
      import { Readable } from 'node:stream';
      import { openSnapshotFiles } from ${JSON.stringify(import.meta.resolve('./snapshot-files.ts'))};
      const files = await openSnapshotFiles({ folder: process.argv[1], mostBytes: 2 ** 23 });
      const packed = Buffer.from(process.argv[2], 'base64');
      await files.hold(process.argv[3], async () => packed);
      const part = Buffer.from(process.argv[4], 'base64').subarray(0, -4);
      void files.hold(process.argv[5], async () => { console.log('held'); return new Readable({ read() { this.push(part.length ? part.subarray(0, 20) : ''); } }); });
      setInterval(() => undefined, 1000);`;
    const parts = [a, b].flatMap(({ packed, digest }) => [packed.toString('base64'), digest]);
    const child = spawn(
      process.execPath,
      ['--input-type=module', '-e', program, folder, ...parts],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await once(child.stdout, 'data');
    const files = await open(3 * mebibyte);
    const refused = files.hold(b.digest, b.read);
    expect(await files.has(b.digest)).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const held = await refused;
    expect((await readFile(held.path)).equals(b.plain)).toBe(true);
    expect(await files.has(a.digest)).toBe(false);
    await until(async () => (await filesThere()).length === 2, {
      timeoutMs: 30_000,
      what: 'one file',
    });
    await held.release();
  });
});
