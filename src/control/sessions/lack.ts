/** Why a session that waited for a host got none, as its end tells it. */
import type { Queryable } from '../db/pool.ts';
import { findHeldPool, findUnsuited, listOffers } from '../db/pools.ts';
import { describeUnsuited } from './unsuited.ts';

const findCause = async (db: Queryable, sessionId: string): Promise<string | undefined> => {
  const held = await findHeldPool(db, sessionId);
  if (held !== undefined) return `pool "${held.name}" launches none: ${held.held}`;
  const wish = await findUnsuited(db, sessionId);
  if (wish === undefined) return undefined;
  return `the pools have changed since it was opened: ${describeUnsuited(wish, await listOffers(db))}`;
};

/**
 * Says that no host was free within so many milliseconds, with the reason of the pool that should have had
 * one, or that there is no such pool any more.
 */
export const describeLack = async (
  db: Queryable,
  sessionId: string,
  overMs: number,
): Promise<string> => {
  const cause = await findCause(db, sessionId);
  const lack = `no warm host was free within ${overMs} ms`;
  return cause === undefined ? lack : `${lack}; ${cause}`;
};
