/**
 * Authenticates callers of public routes: a project by its key pair or its public key alone, an organization by its key
 * pair, a person by a token. `wire/access.ts` lists which of these credentials each route accepts. This file only
 * verifies credentials, and checks the role and scopes of a token's user.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import {
  isAtLeast,
  keyRole,
  leastRoleFor,
  mayDo,
  type Role,
  roleInProject,
  tokenOpening,
} from '#domain/account.ts';
import { AppError } from '#domain/error.ts';
import { own } from '#domain/json.ts';
import {
  type AccessRule,
  accessRules,
  type CredentialKind,
  type PublicAccess,
  type TokenRule,
} from '#wire/access.ts';
import type { Queryable } from '../../db/core/database.ts';
import { findKeys, type KeyRow } from '../../db/projects/keys.ts';
import { findProjectPlaces, type ProjectPlace } from '../../db/projects/projects.ts';
import { type BearerRow, findBearers } from '../../db/projects/tokens.ts';
import { hashSecretKey, type KeyLevel } from '../../platform/tokens/tokens.ts';
import { createLookup, type Find } from './credential-lookup.ts';
import type { AccountCaller, ProjectCaller } from './endpoint.ts';

/** Project that a request names, in its path or its query. */
export type NamedProject = string | undefined;

export type FindClient = (
  credentials: { scheme: string; value: string },
  access: PublicAccess,
  named: NamedProject,
) => Promise<ProjectCaller | AccountCaller>;

const howTo =
  'send the key pair as "Authorization: Basic <base64(public:secret)>", or on a read the public key as "Bearer"';

/** Part of the error message for a caller without credentials; it says how to send them. */
export const howToCall = howTo;

const unauthenticated = (message: string): AppError => new AppError('unauthenticated', message);
const forbidden = (message: string): AppError => new AppError('forbidden', message);

const notTaken: Record<CredentialKind, string> = {
  keyPair:
    "a project's key pair may not do this; it needs an organization's key, or a token of an owner or admin",
  publicKey: 'a public key may only read; this route needs the key pair',
  organizationKey: "this is an organization's key; routes of a project need a key of the project",
  token:
    'a personal access token is for /mcp and the account routes; routes of a project need a key of the project',
};

/**
 * Returns the message for a credential that the route refuses. For an organization's key, the message differs between
 * routes for owners and routes of a project.
 */
const messageOf = (kind: CredentialKind, access: PublicAccess): string => {
  if (kind === 'organizationKey' && access === 'owner') {
    return 'only owners may do this: send the token of an owner';
  }
  return kind === 'publicKey' && accessRules[access].keyPair !== 'taken'
    ? notTaken.keyPair
    : notTaken[kind];
};

const checkTaken = (kind: 'keyPair' | 'publicKey' | 'organizationKey', access: PublicAccess) => {
  const rule = accessRules[access][kind];
  if (rule === 'taken') return;
  const message = messageOf(kind, access);
  throw rule === 401 ? unauthenticated(message) : forbidden(message);
};

/**
 * Builds the error for a project that the caller may not see. It equals the error for a project that does not exist.
 */
const noProject = (id: string): AppError =>
  new AppError('not_found', `there is no project "${id}"`);

const ofKey = (key: KeyRow, level: KeyLevel): ProjectCaller => ({
  projectId: key.projectId ?? '',
  publicKey: key.publicKey,
  level,
  credential: { id: key.id, rateLimit: key.rateLimit },
});

const accountOfKey = (key: KeyRow, atProject: string | null): AccountCaller => ({
  organizationId: key.organizationId,
  atProject,
  role: keyRole,
  actor: {
    kind: key.projectId === null ? 'organization_key' : 'key_pair',
    id: key.id,
    name: key.publicKey,
  },
  token: null,
  credential: { id: key.id, rateLimit: key.rateLimit },
});

const ofProject = ['read', 'inspect', 'send', 'write', 'mcp', 'session'] as const;
const isOfProject = (access: PublicAccess): boolean => ofProject.some((one) => one === access);

const tokenRuleOf = (access: PublicAccess): AccessRule['token'] => accessRules[access].token;

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Returns the role of a token's user in a project; undefined if the token grants no access to the project. */
export const roleAt = (
  { role, projectRoles, projectIds }: Pick<BearerRow, 'role' | 'projectRoles' | 'projectIds'>,
  projectId: string,
): Role | undefined =>
  projectIds === null || projectIds.includes(projectId)
    ? roleInProject(role, own(projectRoles, projectId))
    : undefined;

const checkDeed = (role: Role, { deed }: TokenRule, email: string): void => {
  if (mayDo(role, deed)) return;
  const least = leastRoleFor(deed);
  throw forbidden(
    `${email} is ${role} here, and this needs ${least}${least === 'OWNER' ? '' : ' or more'}`,
  );
};

/**
 * Creates the function that authenticates clients. Rows that it reads are cached briefly, see `credential-lookup.ts`.
 */
export const createFindClient = (db: Queryable): FindClient => {
  const keys = createLookup<KeyRow>({
    read: (names) => findKeys(db, names),
    nameOf: ({ publicKey }) => publicKey,
    form: /^[\x21-\x7e]{1,256}$/,
  });
  const bearers = createLookup<BearerRow>({
    read: (hashes) => findBearers(db, hashes),
    nameOf: ({ hash }) => hash,
    form: /^[0-9a-f]{64}$/,
  });
  const places = createLookup<ProjectPlace>({
    read: (ids) => findProjectPlaces(db, ids),
    nameOf: ({ id }) => id,
    form: /^[\x21-\x7e]{1,64}$/,
  });
  return async ({ scheme, value }, access, named) => {
    if (scheme === 'basic') return byKeyPair({ keys, places }, value, access, named);
    if (scheme !== 'bearer') throw unauthenticated(`unknown scheme "${scheme}": ${howTo}`);
    if (value.startsWith(tokenOpening)) return byToken({ bearers, places }, value, access, named);
    return byPublicKey(keys, value, access);
  };
};

/** Returns the project that a request names; throws `not_found` if the project is not in this organization. */
const findPlace = async (
  places: Find<ProjectPlace>,
  organizationId: string,
  named: NamedProject,
): Promise<ProjectPlace> => {
  const place = named === undefined ? undefined : await places(named);
  if (place?.organizationId !== organizationId) throw noProject(named ?? '');
  return place;
};

const byKeyPair = async (
  { keys, places }: { keys: Find<KeyRow>; places: Find<ProjectPlace> },
  value: string,
  access: PublicAccess,
  named: NamedProject,
): Promise<ProjectCaller | AccountCaller> => {
  const text = Buffer.from(value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  const publicKey = text.slice(0, Math.max(colon, 0));
  const key = publicKey === '' ? undefined : await keys(publicKey);
  const given = hashSecretKey(text.slice(colon + 1));
  if (key === undefined || !timingSafeEqual(given, key.secretHash)) {
    throw unauthenticated('the key pair is not valid');
  }
  checkTaken(key.projectId === null ? 'organizationKey' : 'keyPair', access);
  if (isOfProject(access)) return ofKey(key, 'secret');
  if (access !== 'project') return accountOfKey(key, key.projectId);
  return accountOfKey(key, (await findPlace(places, key.organizationId, named)).id);
};

const byPublicKey = async (
  keys: Find<KeyRow>,
  publicKey: string,
  access: PublicAccess,
): Promise<ProjectCaller> => {
  const key = await keys(publicKey);
  if (key === undefined) throw unauthenticated('the public key is not valid');
  // A public key alone shows nothing of an organization.
  if (key.projectId === null) throw unauthenticated(notTaken.organizationKey);
  checkTaken('publicKey', access);
  return ofKey(key, 'public');
};

const accountOfToken = (
  bearer: BearerRow,
  role: Role,
  place: ProjectPlace | undefined,
): AccountCaller => ({
  organizationId: bearer.organizationId,
  atProject: place?.id ?? null,
  role,
  actor: { kind: 'user', id: bearer.userId, name: bearer.email },
  token: bearer,
  credential: { id: bearer.id, rateLimit: place?.rateLimit ?? null },
});

/**
 * Builds the project caller of a token. Its level is `secret` if the user's role and the token's scopes both allow
 * writes. Otherwise it is `public`, which may only read.
 */
const projectOfToken = (bearer: BearerRow, role: Role, place: ProjectPlace): ProjectCaller => ({
  projectId: place.id,
  publicKey: bearer.email,
  level: mayDo(role, 'project:write') && bearer.scopes.includes('mcp:write') ? 'secret' : 'public',
  credential: { id: bearer.id, rateLimit: place.rateLimit },
});

const byToken = async (
  { bearers, places }: { bearers: Find<BearerRow>; places: Find<ProjectPlace> },
  token: string,
  access: PublicAccess,
  named: NamedProject,
): Promise<ProjectCaller | AccountCaller> => {
  const bearer = await bearers(hashOf(token));
  if (bearer === undefined)
    throw unauthenticated('the token is not valid, was revoked, or has expired');
  const rule = tokenRuleOf(access);
  if (rule === 401) throw unauthenticated(notTaken.token);
  if (rule === 403) throw forbidden(notTaken.token);
  if (rule.scope !== null && !bearer.scopes.includes(rule.scope)) {
    throw forbidden(
      `the token lacks the scope "${rule.scope}": it has ${bearer.scopes.join(', ')}`,
    );
  }
  if (rule.where === 'organization') {
    checkDeed(bearer.role, rule, bearer.email);
    return accountOfToken(bearer, bearer.role, undefined);
  }
  if (named === undefined) throw needsProject(access);
  const place = await findPlace(places, bearer.organizationId, named);
  const role = roleAt(bearer, place.id);
  if (role === undefined || !isAtLeast(role, 'VIEWER')) throw noProject(named);
  checkDeed(role, rule, bearer.email);
  return isOfProject(access)
    ? projectOfToken(bearer, role, place)
    : accountOfToken(bearer, role, place);
};

const needsProject = (access: PublicAccess): AppError => {
  const message =
    'the token reaches several projects: name one of them in the query parameter "project_id"';
  return access === 'mcp'
    ? new AppError('invalid', message, { fields: [{ path: ['project_id'], message }] })
    : noProject('');
};
