/** Organizations: lookups, changes, creation and deletion. */
import type { BrowserTier } from '#domain/session.ts';
import { type Queryable, statement } from '../core/database.ts';

export type OrganizationRow = {
  id: string;
  slug: string;
  name: string;
  browserTier: BrowserTier | null;
  createdAt: Date;
};

const columns = `id, slug, name, browser_tier as "browserTier", created_at as "createdAt"`;

const findStatement = statement(
  'find_organization',
  `select ${columns} from organizations where id = $1 and deleted_at is null`,
);

export const findOrganization = async (
  db: Queryable,
  id: string,
): Promise<OrganizationRow | undefined> =>
  (await db.query<OrganizationRow>(findStatement, [id]))[0];

const lockStatement = statement(
  'lock_organization',
  `select ${columns} from organizations where id = $1 and deleted_at is null for update`,
);

/**
 * Locks an organization and returns it, so that changes to its accounts run one after another. Returns undefined if it
 * does not exist.
 */
export const lockOrganization = async (
  tx: Queryable,
  id: string,
): Promise<OrganizationRow | undefined> =>
  (await tx.query<OrganizationRow>(lockStatement, [id]))[0];

const bySlugStatement = statement(
  'find_organization_by_slug',
  `select ${columns} from organizations where slug = $1 and deleted_at is null`,
);

export const findOrganizationBySlug = async (
  db: Queryable,
  slug: string,
): Promise<OrganizationRow | undefined> =>
  (await db.query<OrganizationRow>(bySlugStatement, [slug]))[0];

const listStatement = statement(
  'list_organizations',
  `select ${columns},
          (select count(*)::int from projects p where p.organization_id = o.id and p.deleted_at is null) as projects,
          (select count(*)::int from memberships m where m.organization_id = o.id) as members
     from organizations o where deleted_at is null order by created_at, id limit 1000`,
);

/** Lists the first 1,000 organizations, for operators. */
export const listOrganizations = (
  db: Queryable,
): Promise<(OrganizationRow & { projects: number; members: number })[]> =>
  db.query<OrganizationRow & { projects: number; members: number }>(listStatement, []);

const insertStatement = statement(
  'insert_organization',
  'insert into organizations (id, slug, name) values (:id, :slug, :name) on conflict (slug) do nothing returning id',
);

/** Inserts an organization. Returns false if the slug is taken. */
export const insertOrganization = async (
  tx: Queryable,
  organization: { id: string; slug: string; name: string },
): Promise<boolean> => (await tx.query(insertStatement, organization)).length > 0;

const updateStatement = statement(
  'update_organization',
  'update organizations set name = :name, browser_tier = :browserTier where id = :id',
);

export const updateOrganization = async (
  tx: Queryable,
  organization: { id: string; name: string; browserTier: BrowserTier | null },
): Promise<void> => {
  await tx.query(updateStatement, organization);
};

// Frees its slug. Tokens are invalid in a deleted organization; keys are revoked below.
const endStatement = statement(
  'end_organization',
  `update organizations set deleted_at = now(), slug = slug || '~' || id where id = $1`,
);
const revokeStatement = statement(
  'revoke_keys_of_organization',
  `update keys set revoked_at = now(), configured = null where organization_id = $1 and revoked_at is null`,
);

/** Deletes an organization. Its keys and tokens become invalid. */
export const endOrganization = async (tx: Queryable, id: string): Promise<void> => {
  await tx.query(endStatement, [id]);
  await tx.query(revokeStatement, [id]);
};
