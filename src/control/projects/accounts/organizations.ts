/**
 * Organizations: admins change them, owners delete them, and operators create them. An operator names the first owner,
 * and may name another one if no owner can be reached any more. An owner's token is shown once.
 */
import { tokenScopes } from '#domain/account.ts';
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import type { BrowserTier } from '#domain/session.ts';
import type {
  MadeKeyView,
  MadeTokenView,
  OrganizationView,
} from '#wire/public-api/projects/account.ts';
import type { Database } from '../../db/core/database.ts';
import type { Actor } from '../../db/projects/audit.ts';
import {
  endOrganization,
  findOrganizationBySlug,
  insertOrganization,
  lockOrganization,
  type OrganizationRow,
  updateOrganization as updateRow,
} from '../../db/projects/organizations.ts';
import { listProjects } from '../../db/projects/projects.ts';
import { type Changer, type Changing, change, changingOf } from './change.ts';
import { makeKey } from './keys.ts';
import { putMember } from './members.ts';
import { makeToken } from './tokens.ts';

export const viewOrganization = ({ createdAt, ...row }: OrganizationRow): OrganizationView => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  browserTier: row.browserTier,
  createdAt: createdAt.toISOString(),
});

/** Changes those settings of an organization that are given. */
export const updateOrganization = (
  db: Database,
  changer: Changer,
  given: { name?: string | undefined; browserTier?: BrowserTier | null | undefined },
): Promise<OrganizationRow> =>
  change(db, changer, async ({ tx, organization, record }) => {
    const { id, name, browserTier } = organization;
    const after = {
      name: given.name ?? name,
      browserTier: given.browserTier === undefined ? browserTier : given.browserTier,
    };
    await updateRow(tx, { id, ...after });
    const before = { name, browserTier };
    await record({ projectId: null, action: 'organization.change', subject: id, before, after });
    return { ...organization, ...after };
  });

/** Deletes an organization that has no projects. `named` is the id that the caller sent to confirm the deletion. */
export const deleteOrganization = (db: Database, changer: Changer, named: string): Promise<void> =>
  change(db, changer, async ({ tx, organization, record }) => {
    const { id, slug, name } = organization;
    if (named !== id) {
      const message = `organizationId is not ${id}, the id of "${slug}": nothing was deleted`;
      throw new AppError('conflict', message);
    }
    const projects = await listProjects(tx, { organizationId: id, ids: null });
    if (projects.length > 0) {
      const message = `"${slug}" has projects (${projects.length}): delete them first`;
      throw new AppError('conflict', message, {
        detail: { projects: projects.slice(0, 20).map((project) => project.id) },
      });
    }
    await endOrganization(tx, id);
    const before = { slug, name };
    await record({
      projectId: null,
      action: 'organization.delete',
      subject: id,
      before,
      after: null,
    });
  });

export const operator: Actor = { kind: 'operator', id: 'operator', name: 'operator' };

/** Lifetime, in days, of the token that an operator creates for an owner. */
const ownerTokenDays = 90;

/** Makes a user an owner and creates a token for the user, within the transaction of another change. */
const putOwner = async (
  changing: Changing,
  { email, name }: { email: string; name?: string | undefined },
): Promise<MadeTokenView> => {
  const member = await putMember(changing, 'OWNER', { email, name, role: 'OWNER' });
  const reach = { scopes: tokenScopes, projectIds: null };
  const token = { name: 'made by an operator', days: ownerTokenDays, createdBy: operator.name };
  return makeToken(changing, member, { ...token, reach });
};

/** Makes a user an owner and creates a token for the user. Only operators do this from outside an organization. */
export const addOwner = async (
  db: Database,
  slug: string,
  owner: { email: string; name?: string | undefined },
): Promise<MadeTokenView> => {
  const organization = await findOrganizationBySlug(db, slug);
  if (organization === undefined) {
    throw new AppError('not_found', `there is no organization "${slug}"`);
  }
  const changer = { organizationId: organization.id, actor: operator };
  return change(db, changer, (changing) => putOwner(changing, owner));
};

export type MadeOrganization = {
  organization: OrganizationView;
  apiKey: MadeKeyView;
  /** Token of the owner; null if the request names no owner. */
  token: MadeTokenView | null;
};

/** Creates an organization with an organization key pair, and with an owner if one is named. */
export const createOrganization = async (
  db: Database,
  { slug, name, owner }: { slug: string; name: string; owner?: string | undefined },
): Promise<MadeOrganization> => {
  const id = newId('org');
  return db.transaction(async (tx) => {
    if (!(await insertOrganization(tx, { id, slug, name }))) {
      throw new AppError('conflict', `there is an organization "${slug}" already`);
    }
    const organization = await lockOrganization(tx, id);
    if (organization === undefined) throw new Error(`the organization ${id} was not created`);
    const changing = changingOf(tx, organization, operator);
    await changing.record({
      ...{ projectId: null, action: 'organization.create', subject: id },
      ...{ before: null, after: { slug, name } },
    });
    const apiKey = await makeKey(changing, null, { note: 'first', createdBy: operator.name });
    const token = owner === undefined ? null : await putOwner(changing, { email: owner });
    return { organization: viewOrganization(organization), apiKey, token };
  });
};
