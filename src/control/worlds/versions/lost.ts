/**
 * Whether the bytes of versions are still there. A folder can be lost while the database that names what was
 * in it is not: such a world cannot be served, and its slug can be made again.
 */

import pMap from 'p-map';
import type { Digest } from '#domain/world.ts';
import { listHeadBlobs } from '../../db/worlds/worlds.ts';
import { type Blobs, isLost } from '../../platform/blobs/blobs.ts';
import type { WorldParts } from '../parts.ts';

const looksAtOnce = 16;
/** Worlds that are looked at in one go, the newest. */
const most = 500;

/** Those of some blobs that the store does not have. Throws when it cannot be asked. */
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

/** Worlds whose head version cannot be loaded, with a blob that is lost; how many were looked at, of how many. */
export type LostWorlds = { lost: { world: string; blob: Digest }[]; looked: number; total: number };

/** Looks for what sessions of the newest worlds need. */
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
