/**
 * Members of organizations and of projects. Only owners may add and remove owners, and the last owner cannot be
 * removed.
 */
import { type Role, readEmail, whyNotRole } from '#domain/account.ts';
import { AppError } from '#domain/error.ts';
import { newId } from '#domain/id.ts';
import type { Database, Queryable } from '../../db/core/database.ts';
import {
  countMembers,
  countOwners,
  ensureUser,
  findMember,
  findProjectRole,
  type MemberRow,
  mostMembers,
  removeMember,
  removeProjectMember,
  setMember,
  setProjectMember,
} from '../../db/projects/members.ts';
import { type Changer, type Changing, change } from './change.ts';

/** User, named either by id or by e-mail address. */
export type Named = { userId?: string | undefined; email?: string | undefined };

const invalid = (field: string, message: string): AppError =>
  new AppError('invalid', `invalid request: ${field} ${message}`, {
    fields: [{ path: [field], message }],
  });

/** Returns the id or the e-mail address, whichever was given. Throws `invalid` if both or neither were given. */
const readNamed = ({ userId, email }: Named): { userId: string | null; email: string | null } => {
  if ((userId === undefined) === (email === undefined)) {
    throw invalid('userId', 'is required, or "email" in its place; not both');
  }
  const address = email === undefined ? null : readEmail(email);
  if (address === undefined) throw invalid('email', 'must be an e-mail address');
  return { userId: userId ?? null, email: address };
};

const noMember = ({ userId, email }: Named): AppError =>
  new AppError('not_found', `the organization has no member ${userId ?? email}`);

/** Returns a member of the organization. Throws `not_found`. */
export const getMember = async (
  db: Queryable,
  organizationId: string,
  named: Named,
): Promise<MemberRow> => {
  const member = await findMember(db, { organizationId, ...readNamed(named) });
  if (member === undefined) throw noMember(named);
  return member;
};

const checkRole = (by: Role, from: Role | null, to: Role | null): void => {
  const why = whyNotRole(by, from, to);
  if (why !== undefined) throw new AppError('forbidden', why);
};

const checkOwnerStays = async (
  { tx, organization }: Changing,
  member: MemberRow | undefined,
  to: Role | null,
): Promise<void> => {
  if (member?.role !== 'OWNER' || to === 'OWNER') return;
  if ((await countOwners(tx, organization.id)) > 1) return;
  const message = `${member.email} is the last owner of "${organization.slug}": make another member an owner first`;
  throw new AppError('conflict', message);
};

/** Returns the user for a new member; creates the user if the e-mail address is unknown. */
const userOf = async (
  { tx, organization }: Changing,
  named: Named,
  name: string | undefined,
): Promise<{ id: string; email: string; name: string }> => {
  const { email } = readNamed(named);
  if (email === null) throw noMember(named);
  if ((await countMembers(tx, organization.id)) >= mostMembers) {
    throw new AppError('conflict', `an organization has at most ${mostMembers} members`);
  }
  return ensureUser(tx, { id: newId('usr'), email, name: name ?? email.split('@')[0] ?? email });
};

/** Adds a member, or changes a member's role, within the transaction of another change. */
export const putMember = async (
  changing: Changing,
  by: Role,
  { name, role, ...named }: Named & { name?: string | undefined; role: Role },
): Promise<MemberRow> => {
  const { tx, organization, record } = changing;
  const organizationId = organization.id;
  const member = await findMember(tx, { organizationId, ...readNamed(named) });
  checkRole(by, member?.role ?? null, role);
  await checkOwnerStays(changing, member, role);
  const user =
    member === undefined
      ? await userOf(changing, named, name)
      : { id: member.userId, email: member.email, name: member.name };
  if (member?.role === role) return member;
  await setMember(tx, { organizationId, userId: user.id, role });
  await record({
    projectId: null,
    action: member === undefined ? 'member.add' : 'member.change',
    subject: user.id,
    before: member === undefined ? null : { email: member.email, role: member.role },
    after: { email: user.email, role },
  });
  return { userId: user.id, email: user.email, name: user.name, role };
};

/** Adds a member to the organization, or changes a member's role. */
export const setMembership = (
  db: Database,
  changer: Changer & { role: Role },
  given: Named & { name?: string | undefined; role: Role },
): Promise<MemberRow> =>
  change(db, changer, (changing) => putMember(changing, changer.role, given));

/** Removes a member, together with the member's roles in projects and the member's tokens. */
export const removeMembership = (
  db: Database,
  changer: Changer & { role: Role },
  userId: string,
): Promise<MemberRow> =>
  change(db, changer, async (changing) => {
    const { tx, organization, record } = changing;
    const member = await getMember(tx, organization.id, { userId });
    checkRole(changer.role, member.role, null);
    await checkOwnerStays(changing, member, null);
    await removeMember(tx, { organizationId: organization.id, userId });
    const before = { email: member.email, role: member.role };
    await record({
      projectId: null,
      action: 'member.remove',
      subject: userId,
      before,
      after: null,
    });
    return member;
  });

/** Sets the role of a member of the organization in a project. */
export const setProjectMembership = (
  db: Database,
  changer: Changer,
  projectId: string,
  { role, ...named }: Named & { role: Role },
): Promise<MemberRow> =>
  change(db, changer, async ({ tx, organization, record }) => {
    const member = await getMember(tx, organization.id, named);
    if (member.role === 'OWNER') {
      const message = `${member.email} is an owner, who may do everything in every project`;
      throw new AppError('conflict', message);
    }
    const { userId, email } = member;
    const former = await findProjectRole(tx, projectId, userId);
    if (former === role) return { ...member, role };
    await setProjectMember(tx, { projectId, userId, organizationId: organization.id, role });
    const before = former === undefined ? null : { email, role: former };
    const action = former === undefined ? 'project_member.add' : 'project_member.change';
    await record({ projectId, action, subject: userId, before, after: { email, role } });
    return { ...member, role };
  });

/** Removes a member's role in a project, so that the member's role in the organization applies there. */
export const removeProjectMembership = (
  db: Database,
  changer: Changer,
  projectId: string,
  userId: string,
): Promise<MemberRow> =>
  change(db, changer, async ({ tx, organization, record }) => {
    const member = await getMember(tx, organization.id, { userId });
    const role = await findProjectRole(tx, projectId, userId);
    if (role === undefined) {
      throw new AppError('not_found', `${member.email} has no role of their own in the project`);
    }
    await removeProjectMember(tx, projectId, userId);
    const before = { email: member.email, role };
    await record({
      projectId,
      action: 'project_member.remove',
      subject: userId,
      before,
      after: null,
    });
    return member;
  });
