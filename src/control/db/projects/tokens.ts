/** Personal access tokens: authentication, lists, creation and revocation. Only the hash of a token is stored. */
import type { Role, TokenReach, TokenScope } from '#domain/account.ts';
import { type Queryable, statement } from '../core/database.ts';

/** Valid token, with the permissions of the user to whom it belongs. */
export type BearerRow = TokenReach & {
  id: string;
  /** Hash of the token in hexadecimal digits. */
  hash: string;
  organizationId: string;
  userId: string;
  email: string;
  /** Role of the user in the organization. */
  role: Role;
  /** Roles of the user in projects, by project id. They override the role in the organization. */
  projectRoles: Record<string, Role>;
};

const findBearersStatement = statement(
  'find_bearers',
  `select t.id, encode(t.token_hash, 'hex') as hash, t.organization_id as "organizationId", t.user_id as "userId",
          u.email, m.role, t.scopes, t.project_ids as "projectIds",
          (select coalesce(json_object_agg(p.project_id, p.role), '{}') from project_memberships p
            where p.organization_id = t.organization_id and p.user_id = t.user_id) as "projectRoles"
     from tokens t
     join memberships m on m.organization_id = t.organization_id and m.user_id = t.user_id
     join users u on u.id = t.user_id
     join organizations o on o.id = t.organization_id and o.deleted_at is null
    where t.token_hash = any(select decode(hash, 'hex') from unnest($1::text[]) hash)
      and t.revoked_at is null and t.expires_at > now()`,
);

/** Returns the valid tokens with these hashes, given in hexadecimal digits. Revoked and expired tokens are left out. */
export const findBearers = (db: Queryable, hashes: readonly string[]): Promise<BearerRow[]> =>
  db.query<BearerRow>(findBearersStatement, [hashes]);

/** Token as lists show it. */
export type TokenRow = TokenReach & {
  id: string;
  userId: string;
  email: string;
  name: string;
  maskedToken: string;
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
  lastUsedAt: Date | null;
};

const columns = `t.id, t.user_id as "userId", u.email, t.name, t.masked_token as "maskedToken", t.scopes,
   t.project_ids as "projectIds", t.created_by as "createdBy", t.created_at as "createdAt",
   t.expires_at as "expiresAt", c.last_used_at as "lastUsedAt"`;
const from = `tokens t join users u on u.id = t.user_id left join credential_uses c on c.credential_id = t.id`;

const listStatement = statement(
  'list_tokens',
  `select ${columns} from ${from}
    where t.organization_id = :organizationId and (:userId::text is null or t.user_id = :userId)
      and t.revoked_at is null
    order by t.created_at desc, t.id desc limit :limit offset :offset`,
);

const countStatement = statement(
  'count_tokens',
  `select count(*)::int as count from tokens t
    where t.organization_id = :organizationId and (:userId::text is null or t.user_id = :userId)
      and t.revoked_at is null`,
);

/**
 * Lists the tokens of an organization; only those of one user if `userId` is given. Expired tokens are included,
 * revoked ones are not.
 */
export const listTokens = async (
  db: Queryable,
  of: { organizationId: string; userId: string | null },
  range: { limit: number; offset: number },
): Promise<{ rows: TokenRow[]; total: number }> => {
  const rows = await db.query<TokenRow>(listStatement, { ...of, ...range });
  const [counted] = await db.query<{ count: number }>(countStatement, of);
  return { rows, total: counted?.count ?? 0 };
};

const findStatement = statement(
  'find_token',
  `select ${columns} from ${from}
    where t.organization_id = :organizationId and t.id = :id and t.revoked_at is null`,
);

/** Returns a token of an organization; undefined if there is none with this id, or it was revoked. */
export const findToken = async (
  db: Queryable,
  of: { organizationId: string; id: string },
): Promise<TokenRow | undefined> => (await db.query<TokenRow>(findStatement, of))[0];

export type NewToken = {
  id: string;
  organizationId: string;
  userId: string;
  hash: Buffer;
  maskedToken: string;
  name: string;
  scopes: readonly TokenScope[];
  projectIds: readonly string[] | null;
  createdBy: string;
  days: number;
};

const insertStatement = statement(
  'insert_token',
  `insert into tokens (id, organization_id, user_id, token_hash, masked_token, name, scopes, project_ids, created_by,
                       expires_at)
   values (:id, :organizationId, :userId, :hash, :maskedToken, :name, :scopes, :projectIds, :createdBy,
           now() + :days::int * interval '1 day')`,
);

/** Inserts a token. */
export const insertToken = async (db: Queryable, token: NewToken): Promise<void> => {
  await db.query(insertStatement, token);
};

const revokeStatement = statement(
  'revoke_token',
  `update tokens set revoked_at = now()
    where organization_id = :organizationId and id = :id and revoked_at is null returning id`,
);

/** Revokes a token. Returns false if there is no token with this id, or it was already revoked. */
export const revokeToken = async (
  db: Queryable,
  of: { organizationId: string; id: string },
): Promise<boolean> => (await db.query(revokeStatement, of)).length > 0;
