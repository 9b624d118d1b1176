/**
 * Small blobs as text, for sending along where a fetch of their own would cost more than they weigh.
 * What was read once is kept, within bounds that projects share: blobs never change.
 */
import type { Digest } from '#domain/world.ts';
import { createFairCache } from '../../base/fairness/fair-cache.ts';
import { type Blobs, isLost } from './blobs.ts';

export type SmallBlobs = {
  /**
   * Base64 of those that are small, by digest, for a project; the others are left out, and those that are
   * lost: whoever asks for one of these alone is told.
   */
  pick(project: string, digests: readonly Digest[]): Promise<Record<Digest, string>>;
};

/** The largest that counts as small, and what all that are kept may take. */
const smallBytes = 256 * 1024;
const mostBytes = 32 * 1024 * 1024;

/** Makes the cache. */
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
