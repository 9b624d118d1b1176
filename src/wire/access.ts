/**
 * The one table of who may call which public route. An operation names its access; here stands what that takes of
 * each kind of credentials, and what others are answered. Servers check by it, the OpenAPI document, the page of docs
 * and the test over all routes are made of it.
 *
 * A new group of routes names one of these on its operations and needs nothing else.
 */
import type { Deed, TokenScope } from '#domain/account.ts';

/** What a caller of the public API can show. */
export const credentialKinds = ['keyPair', 'publicKey', 'organizationKey', 'token'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

/** Statuses for those that are not taken: 401 leads to others, 403 says that these may not. */
export type Refused = 401 | 403;

/** Where the role of a token's user is looked at: the organization, or the project that the request names. */
export type TokenRule = {
  deed: Deed;
  /** Null: any token. */
  scope: TokenScope | null;
  where: 'organization' | 'project';
};

export type AccessRule = {
  /** Of a project. */
  keyPair: 'taken' | Refused;
  /** The public key of a project alone, as a bearer. */
  publicKey: 'taken' | Refused;
  organizationKey: 'taken' | Refused;
  /** A personal access token: what its user must be allowed to do. */
  token: TokenRule | Refused;
  /** In words, for docs. */
  about: string;
};

const accounts = (deed: Deed, where: TokenRule['where']): TokenRule => ({
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
    about: 'reads what is in a project',
  },
  send: {
    keyPair: 'taken',
    publicKey: 'taken',
    organizationKey: 401,
    token: 401,
    about: 'sends scores and events; pages in a browser do it with the public key',
  },
  inspect: {
    keyPair: 'taken',
    publicKey: 403,
    organizationKey: 401,
    token: 401,
    about: 'reads what agents did, and how it was judged',
  },
  write: {
    keyPair: 'taken',
    publicKey: 403,
    organizationKey: 401,
    token: 401,
    about: 'changes what is in a project, or shows its secrets',
  },
  mcp: {
    keyPair: 'taken',
    publicKey: 403,
    organizationKey: 401,
    token: { deed: 'project:read', scope: 'mcp:read', where: 'project' },
    about: 'works in one project by MCP; a token names it as `project_id`',
  },
  session: {
    keyPair: 'taken',
    publicKey: 403,
    organizationKey: 401,
    token: 401,
    about: "works in one session by MCP; also by that session's own token",
  },
  projects: {
    keyPair: 'taken',
    publicKey: 403,
    organizationKey: 'taken',
    token: { deed: 'self', scope: null, where: 'organization' },
    about: 'lists the projects that the caller reaches',
  },
  organization: {
    keyPair: 403,
    publicKey: 403,
    organizationKey: 'taken',
    token: accounts('organization:manage', 'organization'),
    about: 'members, projects and keys of an organization',
  },
  owner: {
    keyPair: 403,
    publicKey: 403,
    organizationKey: 403,
    token: accounts('organization:own', 'organization'),
    about: 'the end of an organization',
  },
  project: {
    keyPair: 403,
    publicKey: 403,
    organizationKey: 'taken',
    token: accounts('project:manage', 'project'),
    about: 'settings, keys and members of a project',
  },
  self: {
    keyPair: 403,
    publicKey: 403,
    organizationKey: 'taken',
    token: accounts('self', 'organization'),
    about: "personal access tokens: one's own, and those of members whom one manages",
  },
} as const satisfies Record<string, AccessRule>;

/** The access of public routes. */
export type PublicAccess = keyof typeof accessRules;

/** Whether an access is that of a public route; the others are of programs, each with a token of its own. */
export const isPublicAccess = (access: string): access is PublicAccess => access in accessRules;

const readAccesses: readonly string[] = ['read', 'inspect'] satisfies PublicAccess[];

/** Whether an operation of this access changes nothing. */
export const isReadAccess = (access: string): boolean => readAccesses.includes(access);
