/** Organizations, projects and the key pairs that open them. */
import { newId } from '#domain/id.ts';
import { type Database, type Queryable, statement } from './pool.ts';

export type KeyRow = {
  publicKey: string;
  secretHash: Buffer;
  /** Null for a key of the whole organization. */
  projectId: string | null;
};

const findKeysStatement = statement(
  'find_keys',
  `select public_key as "publicKey", secret_hash as "secretHash", project_id as "projectId"
     from keys where public_key = any($1::text[]) and revoked_at is null`,
);

/** The key pairs with these public keys, but those that there are not or that were revoked. */
export const findKeys = (db: Queryable, publicKeys: readonly string[]): Promise<KeyRow[]> =>
  db.query<KeyRow>(findKeysStatement, [publicKeys]);

/** Expression of the `organization/project` that the id of a project stands for. */
export const projectPath = (projectId: string): string =>
  `(select o.slug || '/' || j.slug from projects j join organizations o on o.id = j.organization_id
     where j.id = ${projectId})`;

const projectPathStatement = statement('project_path', `select ${projectPath('$1')} as path`);

/** The `organization/project` by which pools files and operators name a project. */
export const findProjectPath = async (db: Queryable, projectId: string): Promise<string> => {
  const [row] = await db.query<{ path: string | null }>(projectPathStatement, [projectId]);
  if (row?.path == null) throw new Error(`there is no project ${projectId}`);
  return row.path;
};

// The updates change nothing; they are there to return the row that exists.
const ensureOrganization = statement(
  'ensure_organization',
  `insert into organizations (id, slug, name) values ($1, $2, $2)
   on conflict (slug) do update set slug = excluded.slug returning id`,
);

const ensureProject = statement(
  'ensure_project',
  `insert into projects (id, organization_id, slug, name) values ($1, $2, $3, $3)
   on conflict (organization_id, slug) do update set slug = excluded.slug returning id`,
);

const ensureKey = statement(
  'ensure_key',
  `insert into keys (id, organization_id, project_id, public_key, secret_hash, configured)
   values ($1, $2, $3, $4, $5, true)
   on conflict (public_key) do update
      set secret_hash = excluded.secret_hash, revoked_at = null, configured = true`,
);

const revokeFormer = statement(
  'revoke_former_keys',
  `update keys set revoked_at = now()
    where configured and public_key <> $1 and revoked_at is null`,
);

export type KeyPlace = { organization: string; project: string };

/**
 * Makes sure that organization, project and key pair exist; the given secret is the one that counts, and pairs
 * that this was called with before are revoked.
 */
export const ensureKeyPair = (
  db: Database,
  place: KeyPlace,
  key: { publicKey: string; secretHash: Buffer },
): Promise<void> =>
  db.transaction(async (tx) => {
    const [organization] = await tx.query<{ id: string }>(ensureOrganization, [
      newId('org'),
      place.organization,
    ]);
    const [project] = await tx.query<{ id: string }>(ensureProject, [
      newId('prj'),
      organization?.id,
      place.project,
    ]);
    await tx.query(ensureKey, [
      newId('key'),
      organization?.id,
      project?.id,
      key.publicKey,
      key.secretHash,
    ]);
    await tx.query(revokeFormer, [key.publicKey]);
  });
