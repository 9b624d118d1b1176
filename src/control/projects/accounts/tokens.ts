/**
 * Personal access tokens. Users create tokens for themselves. Callers who may manage members create them for other
 * members, but only owners create tokens for owners. A token cannot create a token with more scopes or projects than
 * its own. A token is shown once and stored as its hash.
 */
import {
  isWithin,
  maskSecret,
  mayDo,
  type Role,
  type TokenReach,
  type TokenScope,
  tokenScopes,
} from '#domain/account.ts';
import { AppError } from '#domain/error.ts';
import { newId, newSecret } from '#domain/id.ts';
import type { MadeTokenView, TokenView } from '#wire/public-api/projects/account.ts';
import type { Database } from '../../db/core/database.ts';
import type { MemberRow } from '../../db/projects/members.ts';
import { listProjects } from '../../db/projects/projects.ts';
import {
  type BearerRow,
  findToken,
  insertToken,
  revokeToken as revokeRow,
  type TokenRow,
} from '../../db/projects/tokens.ts';
import { hashSecretKey } from '../../platform/tokens/tokens.ts';
import { type Changer, type Changing, change, noteCreation, type Once } from './change.ts';
import { getMember, type Named } from './members.ts';

/**
 * Caller with its role in the organization, and its personal access token. `token` is null if the caller used another
 * credential.
 */
export type TokenRequester = Changer & { role: Role; token: BearerRow | null };

export type WantedToken = Named & {
  name: string;
  scopes?: readonly TokenScope[] | undefined;
  projectIds?: readonly string[] | undefined;
  expiresInDays?: number | undefined;
};

const usualDays = 90;

export const viewToken = ({ maskedToken, ...row }: TokenRow): TokenView => ({
  ...row,
  displayToken: maskedToken,
  scopes: [...row.scopes],
  projectIds: row.projectIds === null ? null : [...row.projectIds],
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt.toISOString(),
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
});

/** Throws `forbidden` if the caller may not create or revoke tokens of a member. */
const checkMayManage = (
  { role, token }: TokenRequester,
  { userId, email, role: theirs }: MemberRow,
) => {
  if (token?.userId === userId) return;
  if (mayDo(role, 'organization:manage') && (theirs !== 'OWNER' || role === 'OWNER')) return;
  const message = mayDo(role, 'organization:manage')
    ? `${email} is an owner: only the owner creates such tokens, or an operator with "svc orgs owners add"`
    : 'only owners and admins may manage the tokens of other users';
  throw new AppError('forbidden', message);
};

/** Returns the member that the token is for: the one that the request names, else the caller. */
const whose = (changing: Changing, { token }: TokenRequester, { userId, email }: WantedToken) => {
  const named =
    userId === undefined && email === undefined ? { userId: token?.userId } : { userId, email };
  return getMember(changing.tx, changing.organization.id, named);
};

const reachOf = (wanted: WantedToken, requester: TokenRequester, isOwn: boolean): TokenReach => {
  const outer: TokenReach =
    isOwn && requester.token !== null ? requester.token : { scopes: tokenScopes, projectIds: null };
  const reach = {
    scopes: wanted.scopes ?? outer.scopes,
    projectIds: wanted.projectIds ?? outer.projectIds,
  };
  const bounds = requester.token ?? outer;
  if (isWithin(reach, bounds)) return reach;
  const message =
    'a token cannot create a token with scopes or projects that it does not have itself';
  throw new AppError('forbidden', message);
};

const checkProjects = async (
  { tx, organization }: Changing,
  ids: readonly string[] | null,
): Promise<void> => {
  if (ids === null) return;
  const found = new Set(
    (await listProjects(tx, { organizationId: organization.id, ids })).map(({ id }) => id),
  );
  const missing = ids.find((id) => !found.has(id));
  if (missing === undefined) return;
  throw new AppError('not_found', `there is no project "${missing}"`);
};

/** Creates a token for a member, within the transaction of another change. */
export const makeToken = async (
  changing: Changing,
  member: MemberRow,
  {
    name,
    days,
    reach,
    createdBy,
  }: { name: string; days: number; reach: TokenReach; createdBy: string },
): Promise<MadeTokenView> => {
  const { tx, organization, record } = changing;
  const token = newSecret('pat', '_');
  const id = newId('pat');
  const { scopes, projectIds } = reach;
  await insertToken(tx, {
    ...{ id, organizationId: organization.id, userId: member.userId, name, days, createdBy },
    ...{ scopes, projectIds, hash: hashSecretKey(token), maskedToken: maskSecret(token) },
  });
  const row = await findToken(tx, { organizationId: organization.id, id });
  if (row === undefined) throw new Error(`the token ${id} was not made`);
  const after = { email: member.email, name, scopes, projectIds, expiresAt: row.expiresAt };
  await record({ projectId: null, action: 'token.create', subject: id, before: null, after });
  return { ...viewToken(row), token };
};

/** Creates a token for the named member, or for the caller. */
export const createToken = (
  db: Database,
  requester: TokenRequester,
  wanted: WantedToken,
  once: Once,
): Promise<MadeTokenView> =>
  change(db, requester, async (changing) => {
    const member = await whose(changing, requester, wanted);
    checkMayManage(requester, member);
    const reach = reachOf(wanted, requester, requester.token?.userId === member.userId);
    await checkProjects(changing, reach.projectIds);
    const { name, expiresInDays: days = usualDays } = wanted;
    const made = await makeToken(changing, member, {
      name,
      days,
      reach,
      createdBy: requester.actor.name,
    });
    await noteCreation(changing, once, made.id);
    return made;
  });

/** Revokes a token permanently. Throws `not_found` also for a token that the caller may not see. */
export const revokeToken = (db: Database, requester: TokenRequester, id: string): Promise<void> =>
  change(db, requester, async (changing) => {
    const { tx, organization, record } = changing;
    const of = { organizationId: organization.id, id };
    const token = await findToken(tx, of);
    const isOwn = token !== undefined && token.userId === requester.token?.userId;
    if (token === undefined || (!isOwn && !mayDo(requester.role, 'organization:manage'))) {
      throw new AppError('not_found', `there is no token "${id}"`);
    }
    checkMayManage(requester, await getMember(tx, organization.id, { userId: token.userId }));
    await revokeRow(tx, of);
    const before = { email: token.email, name: token.name };
    await record({ projectId: null, action: 'token.revoke', subject: id, before, after: null });
  });
