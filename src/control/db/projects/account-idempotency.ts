/**
 * Idempotency of requests that change the accounts of an organization. If a request has an `Idempotency-Key`, the
 * object that it created is recorded under the key, in the transaction that creates the object.
 */
import { type Queryable, statement } from '../core/database.ts';

export type AccountCreation = { key: string; operation: string; hash: string };

const insertStatement = statement(
  'insert_account_creation',
  `insert into account_creations (organization_id, key, operation, request_hash, subject)
   values (:organizationId, :key, :operation, :hash, :subject)
   on conflict do nothing returning key`,
);

/**
 * Records which object the request with a key created. Returns false if the key was used before. Waits for a concurrent
 * request with the same key.
 */
export const insertAccountCreation = async (
  tx: Queryable,
  creation: AccountCreation & { organizationId: string; subject: string },
): Promise<boolean> => (await tx.query(insertStatement, creation)).length > 0;

const findStatement = statement(
  'find_account_creation',
  `select operation, request_hash as hash, subject from account_creations
    where organization_id = $1 and key = $2`,
);

/** Returns what a request with this key created; undefined if the key is unused. */
export const findAccountCreation = async (
  db: Queryable,
  organizationId: string,
  key: string,
): Promise<{ operation: string; hash: string; subject: string } | undefined> =>
  (
    await db.query<{ operation: string; hash: string; subject: string }>(findStatement, [
      organizationId,
      key,
    ])
  )[0];
