/**
 * Limits that differ from one thing to the next, so that what began together does not end together. The
 * name of a thing gives its own: whoever asks finds the same one.
 */

/** A number from 0 up to 1 that a text always has: FNV-1a with a last round of mixing. */
export const shareOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
};
