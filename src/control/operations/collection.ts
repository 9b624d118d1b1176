/**
 * Previews what the garbage collection of blobs would remove: deleted worlds, and blobs that nothing references. The
 * preview removes nothing.
 */
import pMap from 'p-map';
import type { CollectionView } from '#wire/admin-api/operations.ts';
import { listUnneeded } from '../db/projects/uploads.ts';
import { listDeletedWorlds } from '../db/worlds/world-ends.ts';
import type { Parts } from '../parts.ts';
import { isLost } from '../platform/blobs/blobs.ts';

/** Maximum number of blobs whose size one preview measures, and of worlds that it lists. */
const mostBlobs = 5_000;
const mostWorlds = 100;
const looksAtOnce = 16;

/** Builds the preview. A blob that is already missing counts as zero bytes. */
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
