/** Creation, lists and revocation of key pairs. Their authentication is in `keys.ts`. */
import { type Queryable, statement } from '../core/database.ts';

/** Owner of keys: a project; or the organization itself, if `projectId` is null. */
export type KeysOf = { organizationId: string; projectId: string | null };

export type AccountKeyRow = {
  id: string;
  publicKey: string;
  /** Masked secret; null for a key that was created before masked secrets were stored. */
  maskedSecret: string | null;
  note: string | null;
  createdAt: Date;
  lastUsedAt: Date | null;
};

/** Maximum number of keys of one project, and of keys of an organization itself. */
export const mostKeys = 100;

const columns = `k.id, k.public_key as "publicKey", k.masked_secret as "maskedSecret", k.note,
   k.created_at as "createdAt", c.last_used_at as "lastUsedAt"`;
const those = `k.organization_id = :organizationId and k.project_id is not distinct from :projectId
   and k.revoked_at is null`;
const from = 'keys k left join credential_uses c on c.credential_id = k.id';

// Keys from configurations count too, and their number is not limited.
const listStatement = statement(
  'list_account_keys',
  `select ${columns} from ${from} where ${those} order by k.created_at, k.id limit 1000`,
);

export const listAccountKeys = (db: Queryable, of: KeysOf): Promise<AccountKeyRow[]> =>
  db.query<AccountKeyRow>(listStatement, of);

const insertStatement = statement(
  'insert_account_key',
  `insert into keys (id, organization_id, project_id, public_key, secret_hash, masked_secret, note, created_by)
   select :id, :organizationId, :projectId, :publicKey, :secretHash, :maskedSecret, :note, :createdBy
    where (select count(*) from keys k where ${those}) < ${mostKeys}
   returning created_at as "createdAt"`,
);

export type NewKey = KeysOf & {
  id: string;
  publicKey: string;
  secretHash: Buffer;
  maskedSecret: string;
  note: string | null;
  createdBy: string;
};

/** Inserts a key pair. Returns undefined if the owner has the maximum number of keys. */
export const insertAccountKey = async (tx: Queryable, key: NewKey): Promise<Date | undefined> =>
  (await tx.query<{ createdAt: Date }>(insertStatement, key))[0]?.createdAt;

const findStatement = statement(
  'find_account_key',
  `select ${columns} from ${from} where (k.id = :id or k.public_key = :id) and ${those}`,
);

/** Returns a key pair by its id, or by its public key; undefined if there is none. */
export const findAccountKey = async (
  db: Queryable,
  of: KeysOf & { id: string },
): Promise<AccountKeyRow | undefined> => (await db.query<AccountKeyRow>(findStatement, of))[0];

// A revoked key stays revoked, even if a control plane starts with it in its configuration: see `keys.ts`.
const revokeStatement = statement(
  'revoke_account_key',
  'update keys set revoked_at = now(), configured = null where id = $1 and revoked_at is null',
);

export const revokeAccountKey = async (tx: Queryable, id: string): Promise<void> => {
  await tx.query(revokeStatement, [id]);
};
