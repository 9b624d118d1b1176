/**
 * Runs the tests of stores in memory again with each store on a base file, because stores on a file must pass them,
 * too. Further tests cover only stores on a file.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { sampleContract, sampleRows } from '#test/support/worlds/sample-contract.ts';
import { openUponFiles } from '#test/support/worlds/sample-store.ts';
import { buildSnapshot } from './snapshot.ts';
import { openBaseFile, outermostOf } from './tables/base-file.ts';
import { openWorldStore } from './world-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-store-file-'));
/** Files by the digest of their contents; several stores share one. */
const files = new Map<string, { path: string; bytes: Uint8Array }>();

const fileOf = (snapshot: Uint8Array): string => {
  const digest = createHash('sha256').update(snapshot).digest('hex');
  const known = files.get(digest);
  if (known !== undefined) return known.path;
  const file = { path: join(folder, digest), bytes: zstdDecompressSync(snapshot) };
  writeFileSync(file.path, file.bytes, { mode: 0o600 });
  files.set(digest, file);
  return file.path;
};

openUponFiles(fileOf);

afterAll(() => {
  for (const { path, bytes } of files.values()) expect(readFileSync(path).equals(bytes)).toBe(true);
  rmSync(folder, { recursive: true });
});

await import('./world-store.test.ts');
await import('./properties.test.ts');
await import('./copying.test.ts');
await import('./frozen.test.ts');
await import('./names.test.ts');
await import('./read/read.test.ts');
await import('./write/numbers.test.ts');
await import('./write/free-space.test.ts');
await import('./write/state-before.test.ts');

const contract = sampleContract();
const built = buildSnapshot(contract, sampleRows);

describe('stores upon one file', () => {
  it('do not see changes of one another, and leave the file unchanged', async () => {
    const file = fileOf(built.bytes);
    const [one, other] = [openWorldStore({ contract, file }), openWorldStore({ contract, file })];
    await one.atomically(() => {
      one.remove('issues', { id: 12 });
      one.insert('users', { login: 'cy', id: 3 });
    });
    await other.atomically(() => other.update('issues', { id: 12 }, { title: 'other' }));
    expect(one.count('users')).toBe(3);
    expect(other.count('users')).toBe(2);
    expect(other.get('issues', { id: 12 })).toContain('other');
    for (const store of [one, other]) {
      expect(store.scanDigest()).toBe(store.digest());
      store.close();
    }
    const after = openWorldStore({ contract, file });
    expect(after.digest()).toBe(built.digest);
    after.close();
  });
});

describe('a store upon a file', () => {
  it('refuses further work once SQLite has ended its outermost transaction', () => {
    const { db } = openBaseFile(fileOf(built.bytes));
    const outermost = outermostOf(db, '');
    outermost.begin();
    expect(() => outermost.check()).not.toThrow();
    db.exec('ROLLBACK'); // as SQLite does if it cannot undo a single statement
    expect(() => outermost.check()).toThrow('outermost transaction has ended');
    db.close();
  });

  it('detects a file that was written to', async () => {
    const other = buildSnapshot(contract, { users: sampleRows.users ?? [] });
    const file = fileOf(other.bytes);
    const store = openWorldStore({ contract, file });
    expect(store.scanDigest()).toBe(other.digest);
    writeFileSync(file, zstdDecompressSync(other.bytes));
    expect(() => store.scanDigest()).toThrow('was changed');
    store.close();
  });

  it("limits the number of the file's rows that a session may change, and counts each row once", async () => {
    const users = Array.from({ length: 20_000 }, (_, id) => ({ login: `user ${id}`, id }));
    const { bytes } = buildSnapshot(contract, { users });
    const maxBytes = 2 ** 20;
    const store = openWorldStore({ contract, file: fileOf(bytes), maxBytes });
    store.mark('base');
    const change = (id: number, name: string) =>
      store.atomically(() => store.update('users', { login: `user ${id}` }, { profile: { name } }));
    for (let round = 0; round < 500; round += 1) await change(7, `round ${round}`);
    let changed = 0;
    const all = async () => {
      for (; changed < users.length; changed += 1) await change((changed * 97) % users.length, 'x');
    };
    await expect(all()).rejects.toMatchObject({ kind: 'full' });
    expect(changed).toBeGreaterThan(20);
    const removeAll = async () => {
      for (let id = 1_000; id < users.length; id += 97) {
        await store.atomically(() => store.remove('users', { login: `user ${id}` }));
      }
    };
    await expect(removeAll()).rejects.toMatchObject({
      kind: 'full',
      detail: expect.stringContaining('as many rows of this large world'),
    });
    expect(store.scanDigest()).toBe(store.digest());
    store.rollBackTo('base');
    await change(5, 'y');
    store.close();
  });
});
