/** What the collection of blobs will remove, without removing anything: deleted worlds, and what nothing else needs. */
import pMap from 'p-map';
import type { CollectionView } from '#wire/admin-api/operations.ts';
import { listUnneeded } from '../db/projects/uploads.ts';
import { listDeletedWorlds } from '../db/worlds/world-ends.ts';
import type { Parts } from '../parts.ts';
import { isLost } from '../platform/blobs/blobs.ts';

/** Blobs that are measured, and worlds that are named, in one look. */
const mostBlobs = 5_000;
const mostWorlds = 100;
const looksAtOnce = 16;

/** Looks. Bytes of blobs that are gone already count as none. */
export const previewCollection = async ({
  blobs,
  config,
  db,
}: Pick<Parts, 'blobs' | 'config' | 'db'>): Promise<CollectionView> => {
  const { deletedGraceMinutes: graceMinutes } = config;
  const [worlds, unneeded] = await Promise.all([
    listDeletedWorlds(db, { graceMinutes, most: mostWorlds }),
    listUnneeded(db, mostBlobs),
  ]);
  const sizes = await pMap(
    unneeded,
    (digest) =>
      blobs.size(digest).catch((error: unknown) => {
        if (isLost(error)) return 0;
        throw error;
      }),
    { concurrency: looksAtOnce },
  );
  return {
    graceMinutes,
    worlds: worlds.map(({ world, deletedAt, keptUntil }) => ({
      world,
      deletedAt: deletedAt.toISOString(),
      keptUntil: keptUntil.toISOString(),
    })),
    totalWorlds: worlds[0]?.total ?? 0,
    blobs: unneeded.length,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    isLowerBound: unneeded.length === mostBlobs,
    place: blobs.location,
  };
};
