/**
 * Key pairs: how they authenticate, and the pairs in configurations. Also creates the organization and the project that
 * the configuration names.
 */
import { newId } from '#domain/id.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { type Actor, recordChange } from './audit.ts';

export type KeyRow = {
  id: string;
  publicKey: string;
  secretHash: Buffer;
  organizationId: string;
  /** Id of the project; null for a key of the whole organization. */
  projectId: string | null;
  /** Requests per minute, from the settings of the key's project; null for the default of the installation. */
  rateLimit: number | null;
};

const findKeysStatement = statement(
  'find_keys',
  `select k.id, k.public_key as "publicKey", k.secret_hash as "secretHash", k.organization_id as "organizationId",
          k.project_id as "projectId", p.rate_limit as "rateLimit"
     from keys k left join projects p on p.id = k.project_id
    where k.public_key = any($1::text[]) and k.revoked_at is null`,
);

/** Returns the valid key pairs with these public keys. Unknown and revoked pairs are left out. */
export const findKeys = (db: Queryable, publicKeys: readonly string[]): Promise<KeyRow[]> =>
  db.query<KeyRow>(findKeysStatement, [publicKeys]);

/** Returns the SQL for the `organization/project` path of a project; `projectId` is SQL. */
export const projectPath = (projectId: string): string =>
  `(select o.slug || '/' || j.slug from projects j join organizations o on o.id = j.organization_id
     where j.id = ${projectId})`;

const projectPathStatement = statement('project_path', `select ${projectPath('$1')} as path`);

/** Returns the `organization/project` path of a project, as pools files and operators name it. */
export const findProjectPath = async (db: Queryable, projectId: string): Promise<string> => {
  const [row] = await db.query<{ path: string | null }>(projectPathStatement, [projectId]);
  if (row?.path == null) throw new Error(`there is no project ${projectId}`);
  return row.path;
};

// These statements write nothing if everything exists, so that a control plane can start on a full disk.
const ensureOrganization = statement(
  'ensure_organization',
  'insert into organizations (id, slug, name) values ($1, $2, $2) on conflict (slug) do nothing',
);

const ensureProject = statement(
  'ensure_project',
  `insert into projects (id, organization_id, slug, name)
   select $1, o.id, $3, $3 from organizations o where o.slug = $2
   on conflict (organization_id, slug) do nothing`,
);

// `configured` belongs to the previous release. When one of its replicas starts, it sets the flag on the keys of its
// configuration. It also revokes all other keys that have the flag, until the next start. A key that this release
// names loses the flag, so such a start cannot revoke it. A key that was revoked with the flag set was not revoked for
// good.
const ensureKey = statement(
  'ensure_key',
  `insert into keys (id, organization_id, project_id, public_key, secret_hash, named_at)
   select $1, o.id, case when $6::boolean then null else p.id end, $4, $5, now()
     from organizations o join projects p on p.organization_id = o.id and p.slug = $3
    where o.slug = $2
   on conflict (public_key) do nothing
   returning id, organization_id as "organizationId", project_id as "projectId"`,
);

const takeKey = statement(
  'take_key',
  `update keys
      set named_at = now(), configured = null, revoked_at = null, secret_hash = $2::bytea,
          former_secrets = case when secret_hash = $2 then former_secrets
                                else array_append(coalesce(former_secrets, '{}'), secret_hash) end
    where public_key = $1 and (revoked_at is null or configured)
      and (secret_hash <> $2 or configured)
      and $2 <> all (coalesce(former_secrets, '{}'))`,
);

const findNamed = statement(
  'find_named_keys',
  `select public_key as "publicKey", secret_hash as "secretHash", revoked_at as "revokedAt"
     from keys where public_key = any($1::text[])`,
);

const nameKeysStatement = statement(
  'name_keys',
  `update keys set named_at = now(), configured = null, revoked_at = null
    where public_key = any($1::text[]) and (revoked_at is null or configured)`,
);

// Replicas of the previous release do not record the keys of their configuration, so it is unknown whether one with a
// flagged key still runs.
const revokeUnnamedStatement = statement(
  'revoke_unnamed_keys',
  `update keys set revoked_at = now()
    where revoked_at is null and configured is not true and public_key <> all($1::text[])
      and named_at < now() - $2::float8 * interval '1 millisecond'
   returning id, organization_id as "organizationId", project_id as "projectId", public_key as "publicKey"`,
);

const findHeldBeforeStatement = statement(
  'find_keys_held_before',
  `select public_key as "publicKey" from keys
    where configured and revoked_at is null and public_key <> all($1::text[])
    order by public_key`,
);

export type ProjectSlugs = { organization: string; project: string };
export type ConfiguredKey = { publicKey: string; secretHash: Buffer; ofOrganization?: boolean };

type Placed = { id: string; organizationId: string; projectId: string | null };

const configuration: Actor = { kind: 'configuration', id: 'configuration', name: 'configuration' };

/** Records in the audit log that a key from a configuration was created or revoked. */
const recordKey = (
  db: Queryable,
  { id, organizationId, projectId }: Placed,
  publicKey: string,
  deed: 'create' | 'revoke',
): Promise<void> => {
  const noun = projectId === null ? 'organization_key' : 'key';
  const about = { publicKey };
  return recordChange(db, {
    ...{ organizationId, projectId, actor: configuration, subject: id },
    action: `${noun}.${deed}`,
    before: deed === 'create' ? null : about,
    after: deed === 'create' ? about : null,
  });
};

/**
 * Ensures that the organization, the project and the key pairs exist. A new secret for a public key replaces the former
 * secret permanently. Neither a former secret nor a revoked pair becomes valid again, unless a replica of the previous
 * release revoked the pair.
 */
export const ensureKeyPairs = (
  db: Database,
  { organization, project }: ProjectSlugs,
  pairs: readonly ConfiguredKey[],
): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.query(ensureOrganization, [newId('org'), organization]);
    await tx.query(ensureProject, [newId('prj'), organization, project]);
    for (const { publicKey, secretHash, ofOrganization = false } of pairs) {
      const given = [newId('key'), organization, project, publicKey, secretHash, ofOrganization];
      const [made] = await tx.query<Placed>(ensureKey, given);
      if (made !== undefined) await recordKey(tx, made, publicKey, 'create');
      await tx.query(takeKey, [publicKey, secretHash]);
    }
  });

/** Returns the pairs that cannot be used, by public key, with the reason for each. */
export const findRefusedPairs = async (
  db: Queryable,
  pairs: readonly ConfiguredKey[],
): Promise<Map<string, string>> => {
  type Row = { publicKey: string; secretHash: Buffer; revokedAt: Date | null };
  const rows = await db.query<Row>(findNamed, [pairs.map(({ publicKey }) => publicKey)]);
  const whyNot = ({ publicKey, secretHash }: ConfiguredKey): string | undefined => {
    const row = rows.find((one) => one.publicKey === publicKey);
    if (row === undefined) return 'does not exist';
    if (row.revokedAt !== null) return `was revoked at ${row.revokedAt.toISOString()}`;
    return row.secretHash.equals(secretHash) ? undefined : 'now has another secret key';
  };
  return new Map(
    pairs.flatMap((pair) => {
      const why = whyNot(pair);
      return why === undefined ? [] : [[pair.publicKey, why] as const];
    }),
  );
};

/** Records that a control plane is running that has these pairs in its configuration. */
export const renewKeys = async (db: Queryable, publicKeys: readonly string[]): Promise<void> => {
  await db.query(nameKeysStatement, [publicKeys]);
};

/**
 * Returns valid public keys that a replica of the previous release had in its configuration when such a replica last
 * started. The given public keys are left out.
 */
export const findFormerKeys = async (
  db: Queryable,
  publicKeys: readonly string[],
): Promise<string[]> =>
  (await db.query<{ publicKey: string }>(findHeldBeforeStatement, [publicKeys])).map(
    ({ publicKey }) => publicKey,
  );

/**
 * Revokes pairs from configurations that no running control plane has named for `goneMs`. Returns the public keys of
 * these pairs.
 */
export const revokeAbandoned = async (
  db: Queryable,
  publicKeys: readonly string[],
  goneMs: number,
): Promise<string[]> => {
  type Revoked = Placed & { publicKey: string };
  const rows = await db.query<Revoked>(revokeUnnamedStatement, [publicKeys, goneMs]);
  for (const row of rows) await recordKey(db, row, row.publicKey, 'revoke');
  return rows.map(({ publicKey }) => publicKey);
};
