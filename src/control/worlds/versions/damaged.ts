/**
 * Whether the bytes of worlds are those that their names say. Each blob is read whole and hashed, one after the
 * other, so a run of it has a bound of bytes and of time, and goes on where the last one ended.
 */
import type { Digest } from '#domain/world.ts';
import { type HeadBlobs, pageOfHeadBlobs } from '../../db/worlds/worlds.ts';
import { type Blobs, isLost } from '../../platform/blobs/blobs.ts';
import type { WorldParts } from '../parts.ts';

const pageSize = 100;

export type DamageBounds = {
  /** The last world that was looked at; null: begin with the newest. */
  after: string | null;
  /** Reads no further world once it has read so many bytes, or for so long. */
  mostBytes: number;
  mostMs: number;
};

/** What a run found. */
export type Damage = {
  /** Worlds that cannot be loaded, with a blob that is gone or holds other bytes. */
  damaged: { world: string; blob: Digest }[];
  /** Worlds that were looked at, of how many. */
  looked: number;
  total: number;
  bytes: number;
  /** Where the next run goes on; null when all have been looked at. */
  next: string | null;
};

/** The bytes that the store has under a digest; undefined when it has none or others. */
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

/** Reads what sessions of worlds need, the newest first. Throws when the store cannot be asked. */
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
