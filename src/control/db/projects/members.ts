/** Users, and their roles in organizations and projects. */
import type { Role } from '#domain/account.ts';
import { type Queryable, statement } from '../core/database.ts';

export type MemberRow = { userId: string; role: Role; email: string; name: string };

const columns = 'm.user_id as "userId", m.role, u.email, u.name';

/** Maximum number of members of one organization. */
export const mostMembers = 1_000;

/** Tables with roles: in organizations, and in projects. A role in a project overrides the role in the organization. */
const places = {
  organization: { table: 'memberships', key: 'organization_id' },
  project: { table: 'project_memberships', key: 'project_id' },
} as const;

const listIn = (name: string, { table, key }: (typeof places)[keyof typeof places]) =>
  statement(
    name,
    `select ${columns} from ${table} m join users u on u.id = m.user_id
      where m.${key} = $1 order by u.email limit ${mostMembers}`,
  );

const removeFrom = (name: string, { table, key }: (typeof places)[keyof typeof places]) =>
  statement(name, `delete from ${table} where ${key} = $1 and user_id = $2`);

const listStatement = listIn('list_members', places.organization);

export const listMembers = (db: Queryable, organizationId: string): Promise<MemberRow[]> =>
  db.query<MemberRow>(listStatement, [organizationId]);

const findStatement = statement(
  'find_member',
  `select ${columns} from memberships m join users u on u.id = m.user_id
    where m.organization_id = :organizationId
      and (u.id = :userId::text or u.email = :email::text)`,
);

/** Returns a member by the id or the e-mail address, whichever is not null; undefined if there is none. */
export const findMember = async (
  db: Queryable,
  by: { organizationId: string; userId: string | null; email: string | null },
): Promise<MemberRow | undefined> => (await db.query<MemberRow>(findStatement, by))[0];

const ownersStatement = statement(
  'count_owners',
  `select count(*)::int as owners from memberships where organization_id = $1 and role = 'OWNER'`,
);

export const countOwners = async (db: Queryable, organizationId: string): Promise<number> =>
  (await db.query<{ owners: number }>(ownersStatement, [organizationId]))[0]?.owners ?? 0;

const countStatement = statement(
  'count_members',
  'select count(*)::int as members from memberships where organization_id = $1',
);

export const countMembers = async (db: Queryable, organizationId: string): Promise<number> =>
  (await db.query<{ members: number }>(countStatement, [organizationId]))[0]?.members ?? 0;

export type UserRow = { id: string; email: string; name: string };

const userStatement = statement(
  'ensure_user',
  `insert into users (id, email, name) values (:id, :email, :name)
   on conflict (email) do update set email = excluded.email returning id, email, name`,
);

/**
 * Returns the user with this e-mail address; inserts the user if there is none. An existing user keeps the stored name.
 */
export const ensureUser = async (db: Queryable, user: UserRow): Promise<UserRow> => {
  const [row] = await db.query<UserRow>(userStatement, user);
  if (row === undefined)
    throw new Error(`the database returned no row for the inserted user ${user.email}`);
  return row;
};

const setStatement = statement(
  'set_member',
  `insert into memberships (organization_id, user_id, role) values (:organizationId, :userId, :role)
   on conflict (organization_id, user_id) do update set role = excluded.role`,
);

export const setMember = async (
  tx: Queryable,
  of: { organizationId: string; userId: string; role: Role },
): Promise<void> => {
  await tx.query(setStatement, of);
};

const removeStatement = removeFrom('remove_member', places.organization);

/** Removes a member, the member's tokens, and the member's roles in projects. */
export const removeMember = async (
  tx: Queryable,
  of: { organizationId: string; userId: string },
): Promise<void> => {
  await tx.query(removeStatement, [of.organizationId, of.userId]);
};

const listProjectStatement = listIn('list_project_members', places.project);

/** Lists the users who have a separate role in the project. */
export const listProjectMembers = (db: Queryable, projectId: string): Promise<MemberRow[]> =>
  db.query<MemberRow>(listProjectStatement, [projectId]);

const findProjectStatement = statement(
  'find_project_member',
  'select role from project_memberships where project_id = $1 and user_id = $2',
);

export const findProjectRole = async (
  db: Queryable,
  projectId: string,
  userId: string,
): Promise<Role | undefined> =>
  (await db.query<{ role: Role }>(findProjectStatement, [projectId, userId]))[0]?.role;

const setProjectStatement = statement(
  'set_project_member',
  `insert into project_memberships (project_id, user_id, organization_id, role)
   values (:projectId, :userId, :organizationId, :role)
   on conflict (project_id, user_id) do update set role = excluded.role`,
);

export const setProjectMember = async (
  tx: Queryable,
  of: { projectId: string; userId: string; organizationId: string; role: Role },
): Promise<void> => {
  await tx.query(setProjectStatement, of);
};

const removeProjectStatement = removeFrom('remove_project_member', places.project);

export const removeProjectMember = async (
  tx: Queryable,
  projectId: string,
  userId: string,
): Promise<void> => {
  await tx.query(removeProjectStatement, [projectId, userId]);
};
