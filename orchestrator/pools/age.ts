/**
 * How old a warm host may grow. Hosts that were launched together must not all end together, so each
 * has a limit of its own, which its name gives: every orchestrator finds the same one.
 */

/** A number from 0 up to 1 that a text always has: FNV-1a with a last round of mixing. */
const shareOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
};

/** The age in milliseconds from which a host is replaced: `maxAgeMs`, less up to its share `jitter`. */
export const ageLimitMs = (hostId: string, maxAgeMs: number, jitter: number): number =>
  maxAgeMs * (1 - jitter * shareOf(hostId));
