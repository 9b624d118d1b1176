/** Why a session that waited for a host got none, as its end tells it. */
import type { Queryable } from '../db/database.ts';
import { type BesetPool, findBesetPool, findUnsuited, listOffers } from '../db/pools.ts';
import { describeUnsuited } from '../sessions/unsuited.ts';

const describeBeset = ({ name, held, maximum, live }: BesetPool): string =>
  held === null
    ? `pool "${name}" is full (${live} of ${maximum} hosts)`
    : `pool "${name}" launches none: ${held}`;

const findCause = async (db: Queryable, sessionId: string): Promise<string | undefined> => {
  const beset = await findBesetPool(db, sessionId);
  if (beset !== undefined) return describeBeset(beset);
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
