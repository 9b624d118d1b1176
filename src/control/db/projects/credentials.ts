/** Usage of keys and tokens: their rate limit per minute, and the time of their last use. */

import { type Queryable, statement } from '../core/database.ts';
import { rowsOf } from '../core/parameters.ts';

const takeStatement = statement(
  'take_requests',
  'select granted, untaken, left_ms as "leftMs" from take_requests($1, $2)',
);

/**
 * Requests granted in the current minute, which ends in `leftMs` milliseconds. `untaken` is the number that can still
 * be granted in that minute.
 */
export type TakenRequests = { granted: number; untaken: number; leftMs: number };

/** Takes up to `most` requests from the rate limit of the current minute. Grants 0 if the limit is used up. */
export const takeRequests = async (
  db: Queryable,
  credentialId: string,
  most: number,
): Promise<TakenRequests> => {
  const [row] = await db.query<TakenRequests>(takeStatement, [credentialId, most]);
  if (row === undefined)
    throw new Error(`the database returned no row for the rate limit of ${credentialId}`);
  return row;
};

const noteStatement = statement(
  'note_credential_uses',
  `insert into credential_uses (credential_id, last_used_at)
   select id, now() from ${rowsOf(':ids::text[]')} id
   on conflict (credential_id) do update set last_used_at = greatest(credential_uses.last_used_at, excluded.last_used_at)`,
);

/** Records that these keys and tokens were used now. */
export const noteCredentialUses = async (db: Queryable, ids: readonly string[]): Promise<void> => {
  await db.query(noteStatement, { ids: [...ids].sort() });
};
