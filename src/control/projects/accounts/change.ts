/**
 * Runs changes of accounts. Changes of the same organization are serialized. Each change is recorded in the audit log,
 * in the change's own transaction. A request that creates something may be repeated with the same `Idempotency-Key`.
 */
import { AppError } from '#domain/error.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import {
  type AccountCreation,
  findAccountCreation,
  insertAccountCreation,
} from '../../db/projects/account-idempotency.ts';
import { type Actor, type Change, recordChange } from '../../db/projects/audit.ts';
import { lockOrganization, type OrganizationRow } from '../../db/projects/organizations.ts';

/** Actor of a change, and the organization that is changed. */
export type Changer = { organizationId: string; actor: Actor };

/** Transaction that holds the organization's lock, and records its changes in the audit log. */
export type Changing = {
  tx: Queryable;
  organization: OrganizationRow;
  record(change: Omit<Change, 'organizationId' | 'actor'>): Promise<void>;
};

/** Runs a change in a transaction, which is rolled back if the change throws. */
export const change = <Value>(
  db: Database,
  { organizationId, actor }: Changer,
  work: (changing: Changing) => Promise<Value>,
): Promise<Value> =>
  db.transaction(async (tx) => {
    const organization = await lockOrganization(tx, organizationId);
    if (organization === undefined) {
      throw new AppError('not_found', 'the organization was deleted');
    }
    return work(changingOf(tx, organization, actor));
  });

/** Builds the `Changing` of a transaction that already holds the organization's lock. */
export const changingOf = (
  tx: Queryable,
  organization: OrganizationRow,
  actor: Actor,
): Changing => ({
  tx,
  organization,
  record: (entry) => recordChange(tx, { ...entry, organizationId: organization.id, actor }),
});

/** `Idempotency-Key` of a request that creates something; undefined if the request has none. */
export type Once = AccountCreation | undefined;

/**
 * Records which object a request with an `Idempotency-Key` created. Throws `conflict`, with the id of the earlier
 * object, if the key was used before.
 */
export const noteCreation = async (
  { tx, organization }: Changing,
  once: Once,
  subject: string,
): Promise<void> => {
  if (once === undefined) return;
  const of = { organizationId: organization.id, subject };
  if (await insertAccountCreation(tx, { ...once, ...of })) return;
  throw await repeatedError(tx, organization.id, once);
};

const repeatedError = async (
  db: Queryable,
  organizationId: string,
  once: AccountCreation,
): Promise<AppError> => {
  const id = (await findAccountCreation(db, organizationId, once.key))?.subject;
  const message = `this Idempotency-Key has already created ${id}, whose secret was shown once: revoke it and create another with a new key`;
  return new AppError('conflict', message, { detail: { id } });
};

/**
 * Returns the id of the object that an earlier request with the same `Idempotency-Key` created; undefined if there was
 * no such request. Throws `conflict` if the earlier request had other content.
 */
export const findMade = async (
  { tx, organization }: Changing,
  once: Once,
): Promise<string | undefined> => {
  const made = once && (await findAccountCreation(tx, organization.id, once.key));
  if (made === undefined) return undefined;
  if (made.operation === once?.operation && made.hash === once.hash) return made.subject;
  throw new AppError(
    'conflict',
    `this Idempotency-Key was already used for another request, which created ${made.subject}: send a new key`,
  );
};
