/**
 * Who may do what in an organization: roles of its members, and what their tokens are for. Pure; who somebody is
 * is found out by `control/http`, and what each route asks for stands in `wire/access.ts`.
 *
 * A member has one role in the organization. A project may give a member another, which then holds there in its
 * place; an owner's holds everywhere, so that no admin of a project can keep an owner out. `NONE` is a member who
 * reaches only the projects that give a role.
 */

/** From the most to the least. */
export const roles = ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER', 'NONE'] as const;
export type Role = (typeof roles)[number];

/** Whether a role is that one or more. */
export const isAtLeast = (role: Role, least: Role): boolean =>
  roles.indexOf(role) <= roles.indexOf(least);

/** The role that holds in a project: `own` is the one that the project gives, undefined where it gives none. */
export const roleInProject = (inOrganization: Role, own: Role | undefined): Role =>
  inOrganization === 'OWNER' ? 'OWNER' : (own ?? inOrganization);

/** What can be done, with the least role that may. */
const leastRoles = {
  /** Members, projects and keys of the organization. */
  'organization:manage': 'ADMIN',
  /** Owners, and the end of the organization. */
  'organization:own': 'OWNER',
  /** Settings, keys and members of a project. */
  'project:manage': 'ADMIN',
  'project:write': 'MEMBER',
  'project:read': 'VIEWER',
  /** One's own tokens. */
  self: 'NONE',
} as const satisfies Record<string, Role>;
export type Deed = keyof typeof leastRoles;

/** Whether a role may do it. */
export const mayDo = (role: Role, deed: Deed): boolean => isAtLeast(role, leastRoles[deed]);

/** The least role that may do it, for messages. */
export const leastRoleFor = (deed: Deed): Role => leastRoles[deed];

/** What a personal access token is for: reading or writing by MCP, or the account routes. */
export const tokenScopes = ['mcp:read', 'mcp:write', 'accounts'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** How personal access tokens begin. */
export const tokenOpening = 'pat_';

/** How long a token may live. */
export const mostTokenDays = 366;

/** What a person's token reaches; `projectIds` null: every project that its user reaches. */
export type TokenReach = { scopes: readonly TokenScope[]; projectIds: readonly string[] | null };

/** Whether a token reaches no more than another one does. */
export const isWithin = (inner: TokenReach, outer: TokenReach): boolean =>
  inner.scopes.every((scope) => outer.scopes.includes(scope)) &&
  (outer.projectIds === null ||
    (inner.projectIds?.every((id) => outer.projectIds?.includes(id)) ?? false));

/** Whoever changes members: an organization's key counts as an admin. */
export const keyRole: Role = 'ADMIN';

/**
 * Why somebody of a role may not make a member of role `from` (null: no member yet) one of role `to` (null: none any
 * more); undefined when they may. Owners are the owners' own matter.
 */
export const whyNotRole = (by: Role, from: Role | null, to: Role | null): string | undefined => {
  if (!mayDo(by, 'organization:manage')) return 'members are the matter of owners and admins';
  if ((from === 'OWNER' || to === 'OWNER') && by !== 'OWNER') {
    return 'only an owner makes or removes owners, or an operator with "svc orgs owners add"';
  }
  return undefined;
};

/** An e-mail address as users are known by it: in lower case; undefined for what is none. */
export const readEmail = (text: string): string | undefined => {
  const email = text.trim().toLowerCase();
  return email.length <= 254 && /^[^\s@<>"',;:\\]+@[^\s@<>"',;:\\]+\.[^\s@<>"',;:\\.]+$/.test(email)
    ? email
    : undefined;
};

/** The name by which pools files and operators know an organization or a project: `a-z`, `0-9`, `-`. */
export const slugForm = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** A slug made of a name; empty when nothing of the name can stand in one. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64)
    .replace(/-+$/, '');

/** What is shown of a secret: how it begins and its last four characters. */
export const maskSecret = (secret: string): string =>
  `${secret.slice(0, secret.startsWith(tokenOpening) ? tokenOpening.length : 3)}...${secret.slice(-4)}`;
