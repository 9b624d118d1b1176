/** Creates and revokes key pairs of projects and organizations. A secret key is shown once and stored as its hash. */
import { maskSecret } from '#domain/account.ts';
import { AppError } from '#domain/error.ts';
import { newId, newSecret } from '#domain/id.ts';
import type { MadeKeyView } from '#wire/public-api/projects/account.ts';
import type { Database } from '../../db/core/database.ts';
import {
  findAccountKey,
  insertAccountKey,
  type KeysOf,
  mostKeys,
  revokeAccountKey,
} from '../../db/projects/account-keys.ts';
import { hashSecretKey } from '../../platform/tokens/tokens.ts';
import { type Changer, type Changing, change, noteCreation, type Once } from './change.ts';

const nounOf = ({ projectId }: Pick<KeysOf, 'projectId'>): string =>
  projectId === null ? 'organization_key' : 'key';

/** Creates a key pair within the transaction of another change. */
export const makeKey = async (
  changing: Changing,
  projectId: string | null,
  { note, createdBy }: { note: string | null; createdBy: string },
): Promise<MadeKeyView> => {
  const { tx, organization, record } = changing;
  const [publicKey, secretKey] = [newSecret('pk'), newSecret('sk')];
  const displaySecretKey = maskSecret(secretKey);
  const id = newId('key');
  const createdAt = await insertAccountKey(tx, {
    ...{ id, organizationId: organization.id, projectId, publicKey, note, createdBy },
    secretHash: hashSecretKey(secretKey),
    maskedSecret: displaySecretKey,
  });
  if (createdAt === undefined) {
    throw new AppError('conflict', `there are ${mostKeys} keys, the maximum: revoke one first`);
  }
  const action = `${nounOf({ projectId })}.create`;
  await record({ projectId, action, subject: id, before: null, after: { publicKey, note } });
  return { id, createdAt: createdAt.toISOString(), note, publicKey, secretKey, displaySecretKey };
};

/** Creates a key pair of a project, or of the organization if `projectId` is null. */
export const createKey = (
  db: Database,
  changer: Changer,
  projectId: string | null,
  { note, once }: { note: string | null; once: Once },
): Promise<MadeKeyView> =>
  change(db, changer, async (changing) => {
    const made = await makeKey(changing, projectId, { note, createdBy: changer.actor.name });
    await noteCreation(changing, once, made.id);
    return made;
  });

/** Revokes a key pair permanently; the caller names the pair by its id or its public key. */
export const revokeKey = (
  db: Database,
  changer: Changer,
  projectId: string | null,
  named: string,
): Promise<void> =>
  change(db, changer, async ({ tx, organization, record }) => {
    const of = { organizationId: organization.id, projectId };
    const key = await findAccountKey(tx, { ...of, id: named });
    if (key === undefined) throw new AppError('not_found', `there is no key "${named}"`);
    const { id } = key;
    await revokeAccountKey(tx, id);
    const before = { publicKey: key.publicKey, note: key.note };
    await record({ projectId, action: `${nounOf(of)}.revoke`, subject: id, before, after: null });
  });
