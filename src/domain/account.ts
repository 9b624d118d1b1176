/**
 * Permissions in an organization: the roles of its members and the scopes of their access tokens. Pure functions.
 * `control/http` authenticates the client; `wire/access.ts` says what each route requires.
 *
 * A member has one role in the organization. A project may give a member another role, which replaces the
 * organization's role in that project. An owner keeps the owner's role everywhere, so that no admin of a project can
 * lock an owner out. A member with `NONE` has access only to the projects that give the member a role.
 */

/** Roles in descending order of permissions. */
export const roles = ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER', 'NONE'] as const;
export type Role = (typeof roles)[number];

/** Returns true if a role is `least` or a higher one. */
export const isAtLeast = (role: Role, least: Role): boolean =>
  roles.indexOf(role) <= roles.indexOf(least);

/** Returns the effective role in a project. `own` is the role that the project gives; undefined if it gives none. */
export const roleInProject = (inOrganization: Role, own: Role | undefined): Role =>
  inOrganization === 'OWNER' ? 'OWNER' : (own ?? inOrganization);

/** Actions, each with the lowest role that may perform the action. */
const leastRoles = {
  /** Managing members, projects and keys of the organization. */
  'organization:manage': 'ADMIN',
  /** Managing owners, and deleting the organization. */
  'organization:own': 'OWNER',
  /** Managing settings, keys and members of a project. */
  'project:manage': 'ADMIN',
  'project:write': 'MEMBER',
  'project:read': 'VIEWER',
  /** Managing the user's own access tokens. */
  self: 'NONE',
} as const satisfies Record<string, Role>;
export type RoleAction = keyof typeof leastRoles;

/** Returns true if a role may perform the action. */
export const mayDo = (role: Role, action: RoleAction): boolean =>
  isAtLeast(role, leastRoles[action]);

/** Returns the lowest role that may perform the action; error messages name it. */
export const leastRoleFor = (action: RoleAction): Role => leastRoles[action];

/** Scopes of a personal access token: reading through MCP, writing through MCP, and the account routes. */
export const tokenScopes = ['mcp:read', 'mcp:write', 'accounts'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** Prefix of every personal access token. */
export const tokenOpening = 'pat_';

/** Longest lifetime of a token, in days. */
export const mostTokenDays = 366;

/**
 * Permissions of a personal access token. If `projectIds` is null, they cover every project to which the token's user
 * has access.
 */
export type TokenReach = { scopes: readonly TokenScope[]; projectIds: readonly string[] | null };

/** Returns true if `inner` is a subset of `outer`. */
export const isWithin = (inner: TokenReach, outer: TokenReach): boolean =>
  inner.scopes.every((scope) => outer.scopes.includes(scope)) &&
  (outer.projectIds === null ||
    (inner.projectIds?.every((id) => outer.projectIds?.includes(id)) ?? false));

/** Role with which an organization's key acts when it changes members. */
export const keyRole: Role = 'ADMIN';

/**
 * Returns why a member with role `by` may not change another member's role `from` to `to`; undefined if the change is
 * allowed. A null `from` means that the other member is new, a null `to` that the other member is removed. Only owners
 * manage owners.
 */
export const whyNotRole = (by: Role, from: Role | null, to: Role | null): string | undefined => {
  if (!mayDo(by, 'organization:manage')) return 'only owners and admins manage members';
  if ((from === 'OWNER' || to === 'OWNER') && by !== 'OWNER') {
    return 'only an owner adds or removes owners; an operator can add one with "svc orgs owners add"';
  }
  return undefined;
};

/**
 * Returns an e-mail address in lower case, which is the form that identifies a user; undefined if the text is not an
 * address.
 */
export const readEmail = (text: string): string | undefined => {
  const email = text.trim().toLowerCase();
  return email.length <= 254 && /^[^\s@<>"',;:\\]+@[^\s@<>"',;:\\]+\.[^\s@<>"',;:\\.]+$/.test(email)
    ? email
    : undefined;
};

/** Pattern of the slug by which pools files and operators name an organization or a project: `a-z`, `0-9`, `-`. */
export const slugForm = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** Returns a slug made of a name; empty if no character of the name is allowed in a slug. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64)
    .replace(/-+$/, '');

/** Returns the displayed form of a secret: its prefix and its last four characters. */
export const maskSecret = (secret: string): string =>
  `${secret.slice(0, secret.startsWith(tokenOpening) ? tokenOpening.length : 3)}...${secret.slice(-4)}`;
