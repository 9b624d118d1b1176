/**
 * Notes which gateways ask, and from where requests come with a token that is not theirs. A gateway asks at least
 * every half minute, as its long poll ends by then; the database is told now and then, and no request waits for it.
 *
 * Anybody who reaches the port may be refused, from any number of addresses: of those few are noted, apart from
 * the gateways.
 */
import type { Log } from '#runtime/log.ts';
import type { Queryable } from '../../db/core/database.ts';
import { forNoProject } from '../../db/core/project-queue.ts';
import { type GatewayWelcome, mostRefused, noteGateway } from '../../db/sessions/gateways.ts';

/** An address that was noted is not noted again for so long. */
const restMs = 10_000;
/** Addresses that are remembered of each kind. */
const most: Record<GatewayWelcome, number> = { seen: 1_000, refused: mostRefused };

export type NoteGateway = (address: string, welcome: GatewayWelcome) => void;

/** Makes the notebook. What cannot be written is written by the next request. */
export const createGatewayPresence = (
  db: Queryable,
  log: Log,
  now: () => number = () => performance.now(),
): NoteGateway => {
  const noted = { seen: new Map<string, number>(), refused: new Map<string, number>() };
  /** Whether an address is to be noted now. */
  const takes = (address: string, welcome: GatewayWelcome): boolean => {
    const kept = noted[welcome];
    const isOver = (at: number): boolean => now() - at >= restMs;
    if (!isOver(kept.get(address) ?? Number.NEGATIVE_INFINITY)) return false;
    if (kept.size >= most[welcome]) {
      for (const [old, at] of kept) if (isOver(at)) kept.delete(old);
    }
    return kept.size < most[welcome];
  };
  return (address, welcome) => {
    if (!takes(address, welcome)) return;
    noted[welcome].set(address, now());
    if (welcome === 'refused') log.warn({ address }, 'a request with a wrong gateway token');
    forNoProject(() => noteGateway(db, address, welcome)).catch((err: unknown) => {
      noted[welcome].delete(address);
      log.warn({ err, address }, 'who asks as a gateway could not be noted');
    });
  };
};
