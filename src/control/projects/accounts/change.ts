/**
 * Changes of accounts. Those of one organization are made one after another, and each is in the audit log or did not
 * happen. One that makes something may be asked for again with the same `Idempotency-Key`.
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

/** Who changes something, and in which organization. */
export type Changer = { organizationId: string; actor: Actor };

/** A transaction that holds the organization, and writes down what was done in it. */
export type Changing = {
  tx: Queryable;
  organization: OrganizationRow;
  record(change: Omit<Change, 'organizationId' | 'actor'>): Promise<void>;
};

/** Makes a change; nothing of it is there when it throws. */
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

/** What a transaction that holds an organization has to do a change with. */
export const changingOf = (
  tx: Queryable,
  organization: OrganizationRow,
  actor: Actor,
): Changing => ({
  tx,
  organization,
  record: (entry) => recordChange(tx, { ...entry, organizationId: organization.id, actor }),
});

/** The key of a request that makes something; undefined without one. */
export type Once = AccountCreation | undefined;

/** Notes what the key of a request made. Throws `conflict` with what it made before. */
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
  const message = `this Idempotency-Key has made ${id}; a secret is shown once: revoke that one and make another`;
  return new AppError('conflict', message, { detail: { id } });
};

/** What an earlier request with the key made; undefined for none. Throws `conflict` when it asked for something else. */
export const findMade = async (
  { tx, organization }: Changing,
  once: Once,
): Promise<string | undefined> => {
  const made = once && (await findAccountCreation(tx, organization.id, once.key));
  if (made === undefined) return undefined;
  if (made.operation === once?.operation && made.hash === once.hash) return made.subject;
  throw new AppError('conflict', `this Idempotency-Key made ${made.subject} by another request`);
};
