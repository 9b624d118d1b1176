/**
 * Small blobs as text, for sending along where a fetch of their own would cost more than they weigh.
 * What was read once is kept: blobs never change.
 */
import type { Digest } from '#domain/world.ts';
import type { Blobs } from './blobs.ts';

export type SmallBlobs = {
  /** Base64 of those that are small, by digest; the others are left out. */
  pick(digests: readonly Digest[]): Promise<Record<Digest, string>>;
};

/** The largest that counts as small, and how many are kept; the one unused for longest goes first. */
const smallBytes = 256 * 1024;
const mostKept = 64;

/** Makes the cache. */
export const createSmallBlobs = (blobs: Blobs): SmallBlobs => {
  const kept = new Map<Digest, string>();

  const read = async (digest: Digest): Promise<string | undefined> => {
    const known = kept.get(digest);
    if (known === undefined && (await blobs.size(digest)) > smallBytes) return undefined;
    const text = known ?? Buffer.from(await blobs.get(digest)).toString('base64');
    kept.delete(digest);
    kept.set(digest, text);
    const [oldest] = kept.keys();
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
    return text;
  };

  return {
    async pick(digests) {
      const picked: Record<Digest, string> = {};
      const take = async (digest: Digest): Promise<void> => {
        const text = await read(digest);
        if (text !== undefined) picked[digest] = text;
      };
      await Promise.all(digests.map(take));
      return picked;
    },
  };
};
