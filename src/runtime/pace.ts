/**
 * Pacing of what is looked at again and again: the longer a look takes, the longer the rest after it, so
 * that looking takes no more than a fifth of the time, however often there is news.
 */
const restPerLook = 4;

/** How long to rest after a look that took so long; all in milliseconds. */
export const restAfter = (lookMs: number, mostMs: number): number =>
  Math.min(lookMs * restPerLook, mostMs);
