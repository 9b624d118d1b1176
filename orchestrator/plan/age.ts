/**
 * Maximum age of a warm host. Hosts that were launched together must not all end together, so each has a limit of its
 * own. The limit derives from the host's id, so every orchestrator computes the same one.
 */
import { shareOf } from '#domain/share.ts';

/** Returns the age from which a host is replaced, in milliseconds: `maxAgeMs`, reduced by up to the share `jitter`. */
export const ageLimitMs = (hostId: string, maxAgeMs: number, jitter: number): number =>
  maxAgeMs * (1 - jitter * shareOf(hostId));
