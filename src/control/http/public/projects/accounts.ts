/** Endpoints of organizations, projects, members, keys and tokens. */
import { isAtLeast } from '#domain/account.ts';
import { AppError } from '#domain/error.ts';
import * as api from '#wire/public-api/operations.ts';
import type { KeyView, MembershipView } from '#wire/public-api/projects/account.ts';
import { hashOf } from '../../../base/json/canonical.ts';
import { type AccountKeyRow, listAccountKeys } from '../../../db/projects/account-keys.ts';
import { type AuditPosition, type AuditRow, listAudit } from '../../../db/projects/audit.ts';
import { listMembers, listProjectMembers, type MemberRow } from '../../../db/projects/members.ts';
import { findOrganization } from '../../../db/projects/organizations.ts';
import { listProjects } from '../../../db/projects/projects.ts';
import { listTokens } from '../../../db/projects/tokens.ts';
import type { Parts } from '../../../parts.ts';
import { pushesTopic } from '../../../platform/notifications/notifications.ts';
import type { Once } from '../../../projects/accounts/change.ts';
import { createKey, revokeKey } from '../../../projects/accounts/keys.ts';
import {
  removeMembership,
  removeProjectMembership,
  setMembership,
  setProjectMembership,
} from '../../../projects/accounts/members.ts';
import {
  deleteOrganization,
  updateOrganization,
  viewOrganization,
} from '../../../projects/accounts/organizations.ts';
import {
  createProject,
  deleteProject,
  updateProject,
  viewProject,
} from '../../../projects/accounts/projects.ts';
import { getSettings, updateSettings } from '../../../projects/accounts/settings.ts';
import { createToken, revokeToken, viewToken } from '../../../projects/accounts/tokens.ts';
import { roleAt } from '../../server/clients.ts';
import { type AccountCaller, type Endpoint, endpoint, respond } from '../../server/endpoint.ts';
import { type CursorForm, openPage, toMeta, toRange } from '../../server/paging.ts';

const viewKey = ({ createdAt, lastUsedAt, maskedSecret, ...row }: AccountKeyRow): KeyView => ({
  id: row.id,
  createdAt: createdAt.toISOString(),
  expiresAt: null,
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  note: row.note,
  publicKey: row.publicKey,
  displaySecretKey: maskedSecret ?? 'sk-...',
});

const viewMember = ({ userId, role, email, name }: MemberRow): MembershipView => ({
  userId,
  role,
  email,
  name,
});

const formerMember = ({ userId, email }: MemberRow) => ({
  userId,
  message: `${email} is removed`,
});

type KeyedHeaders = { 'idempotency-key'?: string | undefined } | undefined;

/**
 * Returns the `Idempotency-Key` of a request with a hash of the request's content; undefined if there is no such
 * header.
 */
const onceOf = (operation: string, headers: KeyedHeaders, asked: unknown): Once => {
  const key = headers?.['idempotency-key'];
  return key === undefined ? undefined : { key, operation, hash: hashOf({ operation, asked }) };
};

const success = { success: true };

const organizationEndpoints = ({ db }: Parts): Endpoint[] => [
  endpoint(api.getOrganization, async (_, { caller: { organizationId } }) => {
    const row = await findOrganization(db, organizationId);
    if (row === undefined) throw new AppError('not_found', 'the organization was deleted');
    return respond(200, viewOrganization(row));
  }),

  endpoint(api.updateOrganization, async ({ body }, { caller }) =>
    respond(200, viewOrganization(await updateOrganization(db, caller, body))),
  ),

  endpoint(api.deleteOrganization, async ({ body }, { caller }) => {
    await deleteOrganization(db, caller, body.organizationId);
    return respond(200, success);
  }),

  endpoint(api.listMemberships, async (_, { caller: { organizationId } }) =>
    respond(200, { memberships: (await listMembers(db, organizationId)).map(viewMember) }),
  ),

  endpoint(api.setMembership, async ({ body }, { caller }) =>
    respond(200, viewMember(await setMembership(db, caller, body))),
  ),

  endpoint(api.removeMembership, async ({ body }, { caller }) =>
    respond(200, formerMember(await removeMembership(db, caller, body.userId))),
  ),

  endpoint(api.listOrganizationProjects, async (_, { caller: { organizationId } }) => {
    const rows = await listProjects(db, { organizationId, ids: null });
    return respond(200, { projects: rows.map(viewProject) });
  }),

  endpoint(api.listOrganizationKeys, async (_, { caller: { organizationId } }) => {
    const rows = await listAccountKeys(db, { organizationId, projectId: null });
    return respond(200, { apiKeys: rows.map(viewKey) });
  }),

  endpoint(api.createOrganizationKey, async ({ headers, body }, { caller }) => {
    const once = onceOf('createOrganizationKey', headers, body);
    const note = body?.note ?? null;
    return respond(201, await createKey(db, caller, null, { note, once }));
  }),

  endpoint(api.revokeOrganizationKey, async ({ params }, { caller }) => {
    await revokeKey(db, caller, null, params.apiKeyId);
    return respond(200, success);
  }),
];

const auditForm: CursorForm<AuditPosition> = {
  write: ({ atText, id }) => [atText, id],
  read: ([atText, id]) =>
    typeof atText === 'string' &&
    /^\d{4}-\d\d-\d\d [\d:.]{8,15}[+-][\d:]{2,6}$/.test(atText) &&
    typeof id === 'string'
      ? { atText, id }
      : undefined,
};

const viewEntry = ({ id, at, projectId, actor, action, subject, before, after }: AuditRow) => ({
  ...{ id, at: at.toISOString(), projectId, actor, action, subject },
  before: before as Record<string, unknown> | null,
  after: after as Record<string, unknown> | null,
});

const auditEndpoints = ({ db }: Parts): Endpoint[] => [
  endpoint(api.listAuditLog, async ({ query }, { caller: { organizationId } }) => {
    const page = openPage(query, auditForm);
    const { limit, from } = page.range;
    const of = { organizationId, projectId: query.projectId ?? null };
    const { rows, hasMore } = await listAudit(db, of, { limit, from });
    const count = { total: 0, isLowerBound: true };
    const { nextCursor } = page.metaOf({ rows, hasMore, count });
    const next = nextCursor === undefined ? {} : { nextCursor };
    return respond(200, { data: rows.map(viewEntry), meta: { limit, ...next } });
  }),
];

const tokenEndpoints = ({ db }: Parts): Endpoint[] => [
  endpoint(api.listTokens, async ({ query }, { caller }) => {
    const { organizationId, token, role } = caller;
    const all = query.all ?? token === null;
    if (all && !isAtLeast(role, 'ADMIN')) {
      throw new AppError(
        'forbidden',
        'only owners and admins may manage the tokens of other users',
      );
    }
    const of = { organizationId, userId: all ? null : (token?.userId ?? null) };
    const { rows, total } = await listTokens(db, of, toRange(query));
    return respond(200, { data: rows.map(viewToken), meta: toMeta(query, total) });
  }),

  endpoint(api.createToken, async ({ headers, body }, { caller }) => {
    const once = onceOf('createToken', headers, body);
    return respond(201, await createToken(db, caller, body, once));
  }),

  endpoint(api.revokeToken, async ({ params }, { caller }) => {
    await revokeToken(db, caller, params.tokenId);
    return respond(200, success);
  }),
];

/**
 * Returns the projects that a caller may access: its own project for a project's key pair, all projects for a key of
 * the organization, or those that a token grants.
 */
const listReached = async ({ db }: Parts, caller: AccountCaller) => {
  const { organizationId, atProject, token } = caller;
  const ids = atProject === null ? (token?.projectIds ?? null) : [atProject];
  const rows = await listProjects(db, { organizationId, ids });
  if (token === null) return rows;
  return rows.filter(({ id }) => {
    const role = roleAt(token, id);
    return role !== undefined && isAtLeast(role, 'VIEWER');
  });
};

const projectEndpoints = (parts: Parts): Endpoint[] => [
  endpoint(api.listProjects, async (_, { caller }) =>
    respond(200, { data: (await listReached(parts, caller)).map(viewProject) }),
  ),

  endpoint(api.createProject, async ({ headers, body }, { caller }) => {
    const once = onceOf('createProject', headers, body);
    const { project, isNew } = await createProject(parts.db, caller, body, once);
    return isNew ? respond(201, viewProject(project)) : respond(200, viewProject(project));
  }),

  endpoint(api.updateProject, async ({ body }, { caller }) =>
    respond(200, viewProject(await updateProject(parts.db, caller, caller.atProject, body))),
  ),

  endpoint(api.deleteProject, async ({ params }, { caller }) => {
    const { project, worlds, keys } = await deleteProject(parts.db, caller, params.projectId);
    const message = `"${project.slug}" is deleted, with ${worlds} worlds and ${keys} keys`;
    return respond(202, { success: true, message });
  }),
];

const projectAccountEndpoints = ({ db }: Parts): Endpoint[] => [
  endpoint(api.listProjectKeys, async (_, { caller: { organizationId, atProject: projectId } }) => {
    const rows = await listAccountKeys(db, { organizationId, projectId });
    return respond(200, { apiKeys: rows.map(viewKey) });
  }),

  endpoint(api.createProjectKey, async ({ headers, body }, { caller }) => {
    const once = onceOf(`createProjectKey ${caller.atProject}`, headers, body);
    const note = body?.note ?? null;
    return respond(201, await createKey(db, caller, caller.atProject, { note, once }));
  }),

  endpoint(api.revokeProjectKey, async ({ params }, { caller }) => {
    await revokeKey(db, caller, caller.atProject, params.apiKeyId);
    return respond(200, success);
  }),

  endpoint(api.listProjectMemberships, async (_, { caller: { atProject } }) =>
    respond(200, { memberships: (await listProjectMembers(db, atProject)).map(viewMember) }),
  ),

  endpoint(api.setProjectMembership, async ({ body }, { caller }) => {
    const member = await setProjectMembership(db, caller, caller.atProject, body);
    return respond(200, viewMember(member));
  }),

  endpoint(api.removeProjectMembership, async ({ body }, { caller }) => {
    const { atProject } = caller;
    const member = await removeProjectMembership(db, caller, atProject, body.userId);
    return respond(200, formerMember(member));
  }),
];

const settingsEndpoints = ({
  db,
  config: usual,
  notifications,
  defaultTiers,
}: Parts): Endpoint[] => {
  return [
    endpoint(api.getProjectSettings, async (_, { caller: { projectId } }) =>
      respond(200, await getSettings(db, projectId, usual)),
    ),

    endpoint(api.getSettings, async (_, { caller: { atProject } }) =>
      respond(200, await getSettings(db, atProject, usual)),
    ),

    endpoint(api.updateSettings, async ({ body }, { caller }) => {
      const allowance = { usual, isOperator: false };
      const settings = await updateSettings(db, caller, caller.atProject, body, allowance);
      notifications.notify(pushesTopic);
      defaultTiers.forget(caller.atProject);
      return respond(200, settings);
    }),
  ];
};

export const accountEndpoints = (parts: Parts): Endpoint[] => [
  ...organizationEndpoints(parts),
  ...auditEndpoints(parts),
  ...tokenEndpoints(parts),
  ...projectEndpoints(parts),
  ...projectAccountEndpoints(parts),
  ...settingsEndpoints(parts),
];
