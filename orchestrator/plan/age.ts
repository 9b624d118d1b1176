/**
 * How old a warm host may grow. Hosts that were launched together must not all end together, so each
 * has a limit of its own, which its name gives: every orchestrator finds the same one.
 */
import { shareOf } from '#domain/share.ts';

/** The age in milliseconds from which a host is replaced: `maxAgeMs`, less up to its share `jitter`. */
export const ageLimitMs = (hostId: string, maxAgeMs: number, jitter: number): number =>
  maxAgeMs * (1 - jitter * shareOf(hostId));
