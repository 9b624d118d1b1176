/**
 * Verifies that the blobs of worlds hold the bytes that their digests name. Each blob is read completely and hashed,
 * one after another, which takes long. So one pass is limited in bytes and time, and the next pass continues where the
 * previous one stopped.
 */
import type { Digest } from '#domain/world.ts';
import { type HeadBlobs, pageOfHeadBlobs } from '../../db/worlds/head-blobs.ts';
import { type Blobs, isLost } from '../../platform/blobs/blobs.ts';
import type { WorldParts } from '../parts.ts';

const pageSize = 100;

export type DamageBounds = {
  /** Cursor of the pass: the last world that was checked. Null starts with the newest world. */
  after: string | null;
  /** Numbers of bytes and of milliseconds after which the pass reads no further world. */
  mostBytes: number;
  mostMs: number;
};

/** Result of one pass of the check. */
export type Damage = {
  /** Worlds that cannot be loaded, each with a blob that is missing or holds other bytes. */
  damaged: { world: string; blob: Digest }[];
  /** Number of worlds that were checked, and number of all worlds. */
  looked: number;
  total: number;
  bytes: number;
  /** Cursor for the next pass; null if all worlds have been checked. */
  next: string | null;
};

/**
 * Returns the size of the blob with the given digest in bytes; undefined if the blob is missing or holds other bytes.
 */
const readBytes = async (
  blobs: Pick<Blobs, 'get'>,
  digest: Digest,
): Promise<number | undefined> => {
  try {
    return (await blobs.get(digest)).byteLength;
  } catch (error) {
    if (!isLost(error)) throw error;
    return undefined;
  }
};

/**
 * Checks the blobs that sessions of worlds need, starting with the newest world. Throws if the store of blobs cannot be
 * reached.
 */
export const findDamaged = async (
  { blobs, db }: Pick<WorldParts, 'db'> & { blobs: Pick<Blobs, 'get'> },
  { after, mostBytes, mostMs }: DamageBounds,
): Promise<Damage> => {
  const endsAt = performance.now() + mostMs;
  const sizes = new Map<Digest, number | undefined>();
  const found: Damage = { damaged: [], looked: 0, total: 0, bytes: 0, next: after };
  const look = async ({ world, bundle, snapshot }: HeadBlobs): Promise<void> => {
    for (const blob of [bundle, snapshot]) {
      if (!sizes.has(blob)) {
        const size = await readBytes(blobs, blob);
        sizes.set(blob, size);
        found.bytes += size ?? 0;
      }
      if (sizes.get(blob) !== undefined) continue;
      found.damaged.push({ world, blob });
      return;
    }
  };
  for (;;) {
    const heads = await pageOfHeadBlobs(db, pageSize, found.next);
    found.total = heads[0]?.total ?? found.total;
    for (const head of heads) {
      await look(head);
      found.looked += 1;
      found.next = head.id;
      if (found.bytes >= mostBytes || performance.now() > endsAt) return found;
    }
    if (heads.length < pageSize) return { ...found, next: null };
  }
};
