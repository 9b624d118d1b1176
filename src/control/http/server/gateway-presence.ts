/**
 * Records the addresses of gateways that call, and of callers with a wrong gateway token. The doctor reports both
 * (`operations/doctor/gateways.ts`). A gateway calls at least every 30 s, because its long poll lasts no longer. Each
 * address is written to the database at most once every 10 s, and no request waits for the write.
 *
 * Anyone who reaches the port can cause refusals, from any number of addresses. Therefore only a few refused addresses
 * are recorded, and they are counted separately from gateways.
 */
import type { Log } from '#runtime/log.ts';
import type { Queryable } from '../../db/core/database.ts';
import { forNoProject } from '../../db/core/project-queue.ts';
import { type GatewayWelcome, mostRefused, noteGateway } from '../../db/sessions/gateways.ts';

/** Time during which an address is not recorded again, in milliseconds. */
const restMs = 10_000;
/** Maximum number of addresses remembered, for accepted and for refused callers. */
const most: Record<GatewayWelcome, number> = { seen: 1_000, refused: mostRefused };

export type NoteGateway = (address: string, welcome: GatewayWelcome) => void;

/** Creates the recorder. If a write fails, the next request from the address tries again. */
export const createGatewayPresence = (
  db: Queryable,
  log: Log,
  now: () => number = () => performance.now(),
): NoteGateway => {
  const noted = { seen: new Map<string, number>(), refused: new Map<string, number>() };
  /** Returns true if an address is due to be recorded now. */
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
      log.warn({ err, address }, 'the presence of a gateway could not be recorded');
    });
  };
};
