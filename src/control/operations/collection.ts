/**
 * Previews what the collection of blobs would remove, without removing anything: deleted worlds, and blobs that
 * nothing references.
 */
import pMap from 'p-map';
import type { CollectionView } from '#wire/admin-api/operations.ts';
import { listUnneeded } from '../db/projects/uploads.ts';
import { listDeletedWorlds } from '../db/worlds/world-ends.ts';
import type { Parts } from '../parts.ts';
import { isLost } from '../platform/blobs/blobs.ts';

/** Upper bounds for the blobs that one preview measures, and for the worlds that it lists. */
const mostBlobs = 5_000;
const mostWorlds = 100;
const looksAtOnce = 16;

/** Builds the preview. A blob that is missing already counts as no bytes. */
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
