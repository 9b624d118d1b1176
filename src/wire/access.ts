/**
 * Access table of the public API: for each access name, the credentials that may call and the status for those that
 * may not. An operation names its access. Servers check requests against this table; the OpenAPI document, the docs
 * page and a test over all routes are made from it.
 *
 * A new group of routes puts one of these names on its operations and needs nothing else.
 */
import type { RoleAction, TokenScope } from '#domain/account.ts';

/** Kinds of credentials that a client of the public API may send. */
export const credentialKinds = ['keyPair', 'publicKey', 'organizationKey', 'token'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

/**
 * Status for credentials that are refused: 401 asks for other credentials, 403 says that the credentials lack the
 * permission.
 */
export type Refused = 401 | 403;

/**
 * Rule for a token. `where` names the role that is checked: the user's role in the organization, or in the project that
 * the request names.
 */
export type TokenRule = {
  deed: RoleAction;
  /** Scope that the token needs; null accepts any token. */
  scope: TokenScope | null;
  where: 'organization' | 'project';
};

export type AccessRule = {
  /** Key pair of a project: accepted, or the status with which it is refused. */
  keyPair: 'taken' | Refused;
  /** Public key of a project alone, sent as a bearer token. */
  publicKey: 'taken' | Refused;
  organizationKey: 'taken' | Refused;
  /** Personal access token: the permission that its user needs, or the status with which it is refused. */
  token: TokenRule | Refused;
  /** Description for the docs. */
  about: string;
};

const accounts = (deed: RoleAction, where: TokenRule['where']): TokenRule => ({
  deed,
  scope: 'accounts',
  where,
});

export const accessRules = {
  read: {
    keyPair: 'taken',
    publicKey: 'taken',
    organizationKey: 401,
    token: 401,
    about: 'reads the contents of a project',
  },
  send: {
    keyPair: 'taken',
    publicKey: 'taken',
    organizationKey: 401,
    token: 401,
    about: 'sends scores and events; web pages send them with the public key',
  },
  inspect: {
    keyPair: 'taken',
    publicKey: 403,
    organizationKey: 401,
    token: 401,
    about: 'reads telemetry of agents, and its scores',
  },
  write: {
    keyPair: 'taken',
    publicKey: 403,
    organizationKey: 401,
    token: 401,
    about: 'changes the contents of a project, or shows its secrets',
  },
  mcp: {
    keyPair: 'taken',
    publicKey: 403,
    organizationKey: 401,
    token: { deed: 'project:read', scope: 'mcp:read', where: 'project' },
    about: 'works in one project by MCP; a request with a token names the project as `project_id`',
  },
  session: {
    keyPair: 'taken',
    publicKey: 403,
    organizationKey: 401,
    token: 401,
    about: "works in one session by MCP; the session's own token may do so, too",
  },
  projects: {
    keyPair: 'taken',
    publicKey: 403,
    organizationKey: 'taken',
    token: { deed: 'self', scope: null, where: 'organization' },
    about: 'lists the projects that the caller has access to',
  },
  organization: {
    keyPair: 403,
    publicKey: 403,
    organizationKey: 'taken',
    token: accounts('organization:manage', 'organization'),
    about: 'manages members, projects and keys of an organization',
  },
  owner: {
    keyPair: 403,
    publicKey: 403,
    organizationKey: 403,
    token: accounts('organization:own', 'organization'),
    about: 'deletes an organization',
  },
  project: {
    keyPair: 403,
    publicKey: 403,
    organizationKey: 'taken',
    token: accounts('project:manage', 'project'),
    about: 'manages settings, keys and members of a project',
  },
  self: {
    keyPair: 403,
    publicKey: 403,
    organizationKey: 'taken',
    token: accounts('self', 'organization'),
    about:
      "manages personal access tokens: the caller's own, and those of members whom the caller manages",
  },
} as const satisfies Record<string, AccessRule>;

/** Access names of public routes. */
export type PublicAccess = keyof typeof accessRules;

/**
 * Returns true if an access is that of a public route. The other accesses belong to programs, each with a token of its
 * own.
 */
export const isPublicAccess = (access: string): access is PublicAccess => access in accessRules;

const readAccesses: readonly string[] = ['read', 'inspect'] satisfies PublicAccess[];

/** Returns true if operations of this access only read. */
export const isReadAccess = (access: string): boolean => readAccesses.includes(access);
