/**
 * Small blobs as text, sent inline in assignments, where a separate fetch would cost more than the bytes. Blobs never
 * change, so they are cached; the cache is bounded and shared fairly by projects.
 */
import type { Digest } from '#domain/world.ts';
import { createFairCache } from '../../base/fairness/fair-cache.ts';
import { type Blobs, isLost } from './blobs.ts';

export type SmallBlobs = {
  /**
   * Returns the small blobs as base64, by digest. Large and lost blobs are left out; the error of a lost one surfaces
   * when it is fetched by itself.
   */
  pick(project: string, digests: readonly Digest[]): Promise<Record<Digest, string>>;
};

/** Size up to which a blob counts as small, and the size of the cache. */
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
