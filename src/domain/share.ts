/**
 * Hashes names to fractions. Limits are spread by these fractions, so that objects that start together do not expire
 * together. The fraction depends only on the name, so every replica computes the same fraction.
 */

/** Returns the number, from 0 inclusive to 1 exclusive, to which a text hashes: FNV-1a with a final mixing step. */
export const shareOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
};
