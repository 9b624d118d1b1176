/**
 * Notes which gateways ask, and which of them are refused for their token. Each asks at least every half
 * minute, as its long poll ends by then; the database is told now and then, and no request waits for it.
 */
import type { Log } from '#runtime/log.ts';
import { type GatewayWelcome, noteGateway } from '../db/gateways.ts';
import type { Queryable } from '../db/pool.ts';
import { forNoProject } from '../db/turns.ts';

/** An address that was noted is not noted again for so long. */
const restMs = 10_000;
const mostKept = 1_000;

export type NoteGateway = (address: string, welcome: GatewayWelcome) => void;

/** Makes the notebook. What cannot be written is written by the next request. */
export const createGatewayPresence = (
  db: Queryable,
  log: Log,
  now: () => number = () => performance.now(),
): NoteGateway => {
  const noted = new Map<string, { welcome: GatewayWelcome; at: number }>();
  return (address, welcome) => {
    const last = noted.get(address);
    if (last?.welcome === welcome && now() - last.at < restMs) return;
    if (noted.size >= mostKept) noted.clear();
    noted.set(address, { welcome, at: now() });
    if (welcome === 'refused') log.warn({ address }, 'a gateway is refused: its token is wrong');
    forNoProject(() => noteGateway(db, address, welcome)).catch((err: unknown) => {
      noted.delete(address);
      log.warn({ err, address }, 'a gateway could not be noted');
    });
  };
};
