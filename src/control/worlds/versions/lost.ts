/**
 * Checks whether the blobs of versions still exist. The folder of blobs can be lost while the database that refers to
 * it still exists. A world without its blobs cannot be served, and its slug can be used again.
 */

import pMap from 'p-map';
import type { Digest } from '#domain/world.ts';
import { listHeadBlobs } from '../../db/worlds/head-blobs.ts';
import { type Blobs, isLost } from '../../platform/blobs/blobs.ts';
import type { WorldParts } from '../parts.ts';

const looksAtOnce = 16;
/** Maximum number of worlds that one check covers; it covers the newest worlds. */
const most = 500;

/** Returns those of the given blobs that are missing in the store. Throws if the store cannot be reached. */
export const findLost = async (
  blobs: Pick<Blobs, 'size'>,
  digests: Iterable<Digest>,
): Promise<Set<Digest>> => {
  const lost = new Set<Digest>();
  const look = async (digest: Digest): Promise<void> => {
    try {
      await blobs.size(digest);
    } catch (error) {
      if (!isLost(error)) throw error;
      lost.add(digest);
    }
  };
  await pMap(new Set(digests), look, { concurrency: looksAtOnce });
  return lost;
};

/**
 * Worlds whose head version cannot be loaded, each with a lost blob; the number of worlds checked, and of all worlds.
 */
export type LostWorlds = { lost: { world: string; blob: Digest }[]; looked: number; total: number };

/** Checks the blobs that sessions need, for the newest worlds. */
export const findLostWorlds = async ({ blobs, db }: WorldParts): Promise<LostWorlds> => {
  const heads = await listHeadBlobs(db, most);
  const gone = await findLost(
    blobs,
    heads.flatMap(({ bundle, snapshot }) => [bundle, snapshot]),
  );
  const lost = heads.flatMap(({ world, bundle, snapshot }) => {
    const blob = [bundle, snapshot].find((digest) => gone.has(digest));
    return blob === undefined ? [] : [{ world, blob }];
  });
  return { lost, looked: heads.length, total: heads[0]?.total ?? 0 };
};
