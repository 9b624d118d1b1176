/**
 * Pacing of what is looked at again and again: the longer a look takes, the longer the rest after it, so
 * that looking takes no more than a fifth of the time. What is quick is not slowed down.
 */
const restPerLook = 4;
/** A look that takes less than this needs no rest. */
const quickMs = 20;

/** How long to rest after a look that took so long; all in milliseconds. */
export const restAfter = (lookMs: number, mostMs: number): number =>
  lookMs < quickMs ? 0 : Math.min(lookMs * restPerLook, mostMs);
