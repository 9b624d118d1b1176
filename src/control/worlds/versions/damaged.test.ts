import { expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import type { Digest } from '#domain/world.ts';
import type { Database } from '../../db/core/database.ts';
import { findDamaged } from './damaged.ts';

const digestOf = (name: string): Digest => `sha256:${name}`;

/** Builds a fake store of `count` worlds. Each has a snapshot of 10 bytes, and all share one bundle of 5 bytes. */
const storeOf = (count: number, bad: ReadonlySet<number>) => {
  const reads: Digest[] = [];
  const heads = Array.from({ length: count }, (_, index) => ({
    id: `wld-${String(count - index).padStart(4, '0')}`,
    world: `a/b/${count - index}`,
    bundle: digestOf('bundle'),
    snapshot: digestOf(String(count - index)),
    total: count,
  }));
  const query = async (_: unknown, [limit, after]: readonly unknown[]) =>
    heads.filter(({ id }) => after === null || id < String(after)).slice(0, Number(limit));
  const get = async (digest: Digest) => {
    reads.push(digest);
    if (bad.has(Number(digest.slice('sha256:'.length)))) throw new AppError('internal', 'damaged');
    return new Uint8Array(digest === digestOf('bundle') ? 5 : 10);
  };
  return { parts: { db: { query } as unknown as Database, blobs: { get } }, reads };
};

const wide = { mostBytes: 1_000_000, mostMs: 60_000 };

it('the search for damaged blobs reads each blob once, and names the worlds that need a damaged blob', async () => {
  const { parts, reads } = storeOf(250, new Set([3, 180]));
  expect(await findDamaged(parts, { after: null, ...wide })).toEqual({
    damaged: [
      { world: 'a/b/180', blob: digestOf('180') },
      { world: 'a/b/3', blob: digestOf('3') },
    ],
    looked: 250,
    total: 250,
    bytes: 5 + 248 * 10,
    next: null,
  });
  expect(new Set(reads).size).toBe(reads.length);
});

it('the search for damaged blobs stops at its limit, and the next search continues from there', async () => {
  const { parts } = storeOf(7, new Set([2]));
  const bounds = { mostBytes: 30, mostMs: 60_000 };
  const first = await findDamaged(parts, { after: null, ...bounds });
  expect(first).toMatchObject({ looked: 3, total: 7, damaged: [], next: 'wld-0005' });
  const rest = await findDamaged(parts, { after: first.next, ...wide });
  expect(rest).toMatchObject({ looked: 4, next: null, damaged: [{ world: 'a/b/2' }] });
});
