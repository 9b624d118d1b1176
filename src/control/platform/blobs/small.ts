/**
 * Sends small blobs inline in assignments, as text, because fetching them separately would cost more than their bytes.
 * Blobs never change, so they are cached. The cache has a size limit that projects share fairly.
 */
import type { Digest } from '#domain/world.ts';
import { createFairCache } from '../../base/fairness/fair-cache.ts';
import { type Blobs, isLost } from './blobs.ts';

export type SmallBlobs = {
  /**
   * Returns the small blobs among the given ones as base64, by digest. Large and lost blobs are left out. The error for
   * a lost blob appears when the host fetches the blob.
   */
  pick(project: string, digests: readonly Digest[]): Promise<Record<Digest, string>>;
};

/** Maximum size of a small blob, and maximum size of the cache, in bytes. */
const smallBytes = 256 * 1024;
const mostBytes = 32 * 1024 * 1024;

/** Creates the cache. */
export const createSmallBlobs = (blobs: Blobs): SmallBlobs => {
  const kept = createFairCache<string>(mostBytes);

  const read = async (owner: string, digest: Digest): Promise<string | undefined> => {
    const known = kept.get(digest);
    if (known !== undefined) return known;
    if ((await blobs.size(digest)) > smallBytes) return undefined;
    const value = Buffer.from(await blobs.get(digest)).toString('base64');
    kept.keep({ key: digest, owner, bytes: value.length, value });
    return value;
  };

  const readIfThere = async (owner: string, digest: Digest): Promise<string | undefined> => {
    try {
      return await read(owner, digest);
    } catch (error) {
      if (isLost(error)) return undefined;
      throw error;
    }
  };

  return {
    async pick(project, digests) {
      const picked: Record<Digest, string> = {};
      const take = async (digest: Digest): Promise<void> => {
        const text = await readIfThere(project, digest);
        if (text !== undefined) picked[digest] = text;
      };
      await Promise.all(digests.map(take));
      return picked;
    },
  };
};
