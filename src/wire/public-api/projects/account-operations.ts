/**
 * Operations on organizations, projects, members, keys, tokens and settings. `access` of each names the permission
 * that it requires, see `../../access.ts`.
 */
import { limits } from '#domain/limits.ts';
import { deleteOperation, getOperation, operation } from '../../operation.ts';
import { Id } from '../../schemas.ts';
import { Type } from '../../type.ts';
import { PageQuery, pageOf } from '../lists.ts';
import {
  AuditEntryView,
  FormerMembership,
  KeyView,
  MadeKeyView,
  MadeTokenView,
  MembershipView,
  NewKey,
  NewMembership,
  NewProject,
  NewProjectMembership,
  NewToken,
  OnceHeaders,
  OrganizationChange,
  OrganizationView,
  ProjectChange,
  ProjectView,
  TokenView,
} from './account.ts';
import { ProjectSettingsChange, ProjectSettingsView } from './settings.ts';

const ProjectParams = Type.Object({ projectId: Type.String({ maxLength: limits.idChars }) });
const KeyParams = Type.Object({ apiKeyId: Type.String({ maxLength: limits.idChars }) });
const ProjectKeyParams = Type.Object({ ...ProjectParams.properties, ...KeyParams.properties });
const TokenParams = Type.Object({ tokenId: Type.String({ maxLength: limits.idChars }) });

const Gone = Type.Object({ success: Type.Boolean() });
const FormerMember = Type.Object({ userId: Type.String(), message: Type.String() });
const KeyList = Type.Object({ apiKeys: Type.Array(KeyView) });
const MembershipList = Type.Object({ memberships: Type.Array(MembershipView) });

const repeated =
  'This `Idempotency-Key` was used before; `id` names the object that it created. A secret is shown only once: revoke that key or token and create another.';

export const getOrganization = getOperation({
  id: 'getOrganization',
  summary: "The organization of the caller's key or token",
  path: '/organizations',
  access: 'organization',
  answer: OrganizationView,
});

export const updateOrganization = operation({
  id: 'updateOrganization',
  summary: 'Change the name or the default browser tier of the organization',
  method: 'PATCH',
  path: '/organizations',
  access: 'organization',
  body: OrganizationChange,
  answers: { 200: OrganizationView },
});

export const deleteOrganization = deleteOperation({
  id: 'deleteOrganization',
  summary: 'Delete an organization that has no project; its keys and tokens are revoked',
  path: '/organizations',
  access: 'owner',
  body: Type.Object(
    { organizationId: Type.String({ maxLength: limits.idChars, description: 'to be sure' }) },
    { additionalProperties: false },
  ),
  answer: Gone,
  refusals: { 409: 'The organization has projects: delete them first.' },
});

export const listMemberships = getOperation({
  id: 'listMemberships',
  summary: 'The members of the organization with their roles',
  path: '/organizations/memberships',
  access: 'organization',
  answer: MembershipList,
});

export const setMembership = operation({
  id: 'setMembership',
  summary: "Add a member, or change a member's role. A new e-mail address creates a user",
  method: 'PUT',
  path: '/organizations/memberships',
  access: 'organization',
  body: NewMembership,
  answers: { 200: MembershipView },
  refusals: {
    409: 'The organization would have no owner, or already has the maximum number of members.',
  },
});

export const removeMembership = deleteOperation({
  id: 'removeMembership',
  summary: "Remove a member, including the member's roles in projects and tokens",
  path: '/organizations/memberships',
  access: 'organization',
  body: FormerMembership,
  answer: FormerMember,
  refusals: { 409: 'The organization would have no owner.' },
});

export const listOrganizationProjects = getOperation({
  id: 'listOrganizationProjects',
  summary: 'The projects of the organization, the oldest first',
  path: '/organizations/projects',
  access: 'organization',
  answer: Type.Object({ projects: Type.Array(ProjectView) }),
});

export const listOrganizationKeys = getOperation({
  id: 'listOrganizationKeys',
  summary: 'The key pairs of the organization, without their secrets',
  path: '/organizations/apiKeys',
  access: 'organization',
  answer: KeyList,
});

export const createOrganizationKey = operation({
  id: 'createOrganizationKey',
  summary: 'Create a key pair of the organization; its secret is shown once',
  method: 'POST',
  path: '/organizations/apiKeys',
  access: 'organization',
  headers: OnceHeaders,
  body: NewKey,
  answers: { 201: MadeKeyView },
  refusals: { 409: repeated },
});

export const revokeOrganizationKey = deleteOperation({
  id: 'revokeOrganizationKey',
  summary: 'Revoke a key pair of the organization',
  path: '/organizations/apiKeys/{apiKeyId}',
  access: 'organization',
  params: KeyParams,
  answer: Gone,
});

export const listAuditLog = getOperation({
  id: 'listAuditLog',
  summary: 'The audit log of the organization, newest first',
  path: '/organizations/audit-log',
  access: 'organization',
  query: Type.Object(
    {
      limit: PageQuery.limit,
      cursor: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 300,
          description: '`meta.nextCursor` of the previous page',
        }),
      ),
      projectId: Type.Optional(Id),
    },
    { additionalProperties: false },
  ),
  answer: Type.Object({
    data: Type.Array(AuditEntryView),
    meta: Type.Object({ limit: Type.Integer(), nextCursor: Type.Optional(Type.String()) }),
  }),
});

export const listTokens = getOperation({
  id: 'listTokens',
  summary: "The caller's personal access tokens; with `all`, those of all members",
  path: '/organizations/tokens',
  access: 'self',
  query: Type.Object(
    {
      ...PageQuery,
      all: Type.Optional(
        Type.Boolean({
          description: 'whether to list the tokens of all members, for owners, admins and keys',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  answer: pageOf(TokenView),
});

export const createToken = operation({
  id: 'createToken',
  summary:
    'Create a personal access token for the caller, or for a member; the token is shown once',
  method: 'POST',
  path: '/organizations/tokens',
  access: 'self',
  headers: OnceHeaders,
  body: NewToken,
  answers: { 201: MadeTokenView },
  refusals: { 409: repeated },
});

export const revokeToken = deleteOperation({
  id: 'revokeToken',
  summary: 'Revoke a personal access token',
  path: '/organizations/tokens/{tokenId}',
  access: 'self',
  params: TokenParams,
  answer: Gone,
});

export const listProjects = getOperation({
  id: 'listProjects',
  summary:
    "The project of a key pair, all projects of an organization's key, or those that a token gives access to",
  path: '/projects',
  access: 'projects',
  unknown: 'ignored',
  answer: Type.Object({ data: Type.Array(ProjectView) }),
});

export const createProject = operation({
  id: 'createProject',
  summary: 'Create a project',
  method: 'POST',
  path: '/projects',
  access: 'organization',
  headers: OnceHeaders,
  body: NewProject,
  answers: { 200: ProjectView, 201: ProjectView },
  refusals: {
    409: 'The slug is taken, or the organization already has the maximum number of projects.',
  },
});

export const updateProject = operation({
  id: 'updateProject',
  summary: 'Change the name or the metadata of a project',
  method: 'PUT',
  path: '/projects/{projectId}',
  access: 'project',
  params: ProjectParams,
  body: ProjectChange,
  answers: { 200: ProjectView },
});

export const deleteProject = operation({
  id: 'deleteProject',
  summary: 'Delete a project with its worlds; its keys are revoked',
  method: 'DELETE',
  path: '/projects/{projectId}',
  access: 'organization',
  params: ProjectParams,
  answers: { 202: Type.Object({ success: Type.Boolean(), message: Type.String() }) },
  refusals: { 409: 'The project has open sessions; `sessions` names the first 20.' },
});

export const listProjectKeys = getOperation({
  id: 'listProjectKeys',
  summary: 'The key pairs of a project, without their secrets',
  path: '/projects/{projectId}/apiKeys',
  access: 'project',
  params: ProjectParams,
  answer: KeyList,
});

export const createProjectKey = operation({
  id: 'createProjectKey',
  summary: 'Create a key pair of a project; its secret is shown once',
  method: 'POST',
  path: '/projects/{projectId}/apiKeys',
  access: 'project',
  params: ProjectParams,
  headers: OnceHeaders,
  body: NewKey,
  answers: { 201: MadeKeyView },
  refusals: { 409: repeated },
});

export const revokeProjectKey = deleteOperation({
  id: 'revokeProjectKey',
  summary: 'Revoke a key pair of a project',
  path: '/projects/{projectId}/apiKeys/{apiKeyId}',
  access: 'project',
  params: ProjectKeyParams,
  answer: Gone,
});

export const listProjectMemberships = getOperation({
  id: 'listProjectMemberships',
  summary: 'The members who have a role of their own in a project',
  path: '/projects/{projectId}/memberships',
  access: 'project',
  params: ProjectParams,
  answer: MembershipList,
});

export const setProjectMembership = operation({
  id: 'setProjectMembership',
  summary: 'Give a member of the organization a role in a project',
  method: 'PUT',
  path: '/projects/{projectId}/memberships',
  access: 'project',
  params: ProjectParams,
  body: NewProjectMembership,
  answers: { 200: MembershipView },
});

export const removeProjectMembership = deleteOperation({
  id: 'removeProjectMembership',
  summary: 'Remove the project role of a member; the role in the organization applies again',
  path: '/projects/{projectId}/memberships',
  access: 'project',
  params: ProjectParams,
  body: FormerMembership,
  answer: FormerMember,
});

export const getSettings = getOperation({
  id: 'getSettings',
  summary: 'The settings of a project',
  path: '/projects/{projectId}/settings',
  access: 'project',
  params: ProjectParams,
  answer: ProjectSettingsView,
});

export const updateSettings = operation({
  id: 'updateSettings',
  summary: 'Change settings of a project; settings that are not named stay as they are',
  method: 'PATCH',
  path: '/projects/{projectId}/settings',
  access: 'project',
  params: ProjectParams,
  body: ProjectSettingsChange,
  answers: { 200: ProjectSettingsView },
});

export const getProjectSettings = getOperation({
  id: 'getProjectSettings',
  summary: "The settings of the caller's project",
  path: '/project/settings',
  access: 'write',
  tools: [{ name: 'get_project_settings' }],
  answer: ProjectSettingsView,
});
