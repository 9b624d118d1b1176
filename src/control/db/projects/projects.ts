/** Projects: their organization, their name, their settings, and their deletion. */
import type { BrowserTier } from '#domain/session.ts';
import { type Queryable, statement } from '../core/database.ts';

/** Organization and rate limit of a project. */
export type ProjectPlace = {
  id: string;
  organizationId: string;
  /** Requests per minute; null for the default of the installation. */
  rateLimit: number | null;
};

const placesStatement = statement(
  'find_project_places',
  `select id, organization_id as "organizationId", rate_limit as "rateLimit"
     from projects where id = any($1::text[]) and deleted_at is null`,
);

/** Returns the organizations and the rate limits of these projects. Deleted projects are left out. */
export const findProjectPlaces = (db: Queryable, ids: readonly string[]): Promise<ProjectPlace[]> =>
  db.query<ProjectPlace>(placesStatement, [ids]);

export type ProjectRow = {
  id: string;
  slug: string;
  name: string;
  metadata: Record<string, unknown>;
  organizationId: string;
  organizationName: string;
  createdAt: Date;
};

const columns = `p.id, p.slug, p.name, p.metadata, p.organization_id as "organizationId",
   o.name as "organizationName", p.created_at as "createdAt"`;
const from = 'projects p join organizations o on o.id = p.organization_id';

const listStatement = statement(
  'list_projects',
  `select ${columns} from ${from}
    where p.organization_id = :organizationId and p.deleted_at is null
      and (:ids::text[] is null or p.id = any(:ids))
    order by p.created_at, p.id`,
);

/** Lists the projects of an organization, oldest first. If ids are given, only these projects are listed. */
export const listProjects = (
  db: Queryable,
  of: { organizationId: string; ids: readonly string[] | null },
): Promise<ProjectRow[]> => db.query<ProjectRow>(listStatement, of);

const findStatement = statement(
  'find_project',
  `select ${columns} from ${from} where p.id = $1 and p.deleted_at is null`,
);

export const findProject = async (db: Queryable, id: string): Promise<ProjectRow | undefined> =>
  (await db.query<ProjectRow>(findStatement, [id]))[0];

const byPathStatement = statement(
  'find_project_by_path',
  `select ${columns} from ${from}
    where o.slug = $1 and p.slug = $2 and p.deleted_at is null and o.deleted_at is null`,
);

/** Returns a project by the slug of its organization and the slug of the project; undefined if there is none. */
export const findProjectByPath = async (
  db: Queryable,
  organization: string,
  project: string,
): Promise<ProjectRow | undefined> =>
  (await db.query<ProjectRow>(byPathStatement, [organization, project]))[0];

/** Maximum number of projects of one organization. */
export const mostProjects = 1_000;

const insertStatement = statement(
  'insert_project',
  `insert into projects (id, organization_id, slug, name, metadata)
   select :id, :organizationId, :slug, :name, :metadata
    where (select count(*) from projects
            where organization_id = :organizationId and deleted_at is null) < ${mostProjects}
   returning id`,
);

/**
 * Inserts a project. Returns false if the organization has the maximum number of projects. The caller must have locked
 * the organization.
 */
export const insertProject = async (
  db: Queryable,
  project: { id: string; organizationId: string; slug: string; name: string; metadata: object },
): Promise<boolean> =>
  (await db.query(insertStatement, { ...project, metadata: JSON.stringify(project.metadata) }))
    .length > 0;

const updateStatement = statement(
  'update_project',
  `update projects set name = coalesce(:name, name), metadata = coalesce(:metadata::json, metadata)
    where id = :id and deleted_at is null returning id`,
);

/**
 * Changes the name and the metadata of a project; null leaves a value unchanged. Returns false if the project does not
 * exist.
 */
export const updateProject = async (
  db: Queryable,
  { id, name, metadata }: { id: string; name: string | null; metadata: object | null },
): Promise<boolean> => {
  const text = metadata === null ? null : JSON.stringify(metadata);
  return (await db.query(updateStatement, { id, name, metadata: text })).length > 0;
};

const lockStatement = statement('lock_project', 'select id from projects where id = $1 for update');

// Frees the slug for another project.
const deleteStatement = statement(
  'delete_project',
  `update projects set deleted_at = now(), slug = slug || '~' || id, webhook_push_since = null
    where id = $1 and deleted_at is null returning id`,
);
const deleteWorldsStatement = statement(
  'delete_worlds_of_project',
  `update worlds set deleted_at = now(), former_slug = slug, slug = id
    where project_id = $1 and deleted_at is null returning id`,
);
const revokeKeysStatement = statement(
  'revoke_keys_of_project',
  `update keys set revoked_at = now(), configured = null
    where project_id = $1 and revoked_at is null returning id`,
);
const forgetMembersStatement = statement(
  'forget_members_of_project',
  'delete from project_memberships where project_id = $1 returning user_id',
);
const openSessionsStatement = statement(
  'open_sessions_of_project',
  'select id from sessions where project_id = $1 and closed_at is null order by id limit 20',
);

/** Locks the project until this transaction ends, so that no world is created in it. */
export const lockProject = async (db: Queryable, id: string): Promise<void> => {
  await db.query(lockStatement, [id]);
};

/** Lists the first 20 sessions that are not closed. */
export const listOpenSessions = async (db: Queryable, projectId: string): Promise<string[]> =>
  (await db.query<{ id: string }>(openSessionsStatement, [projectId])).map(({ id }) => id);

/**
 * Deletes a project: marks its worlds as deleted (so that their bytes are garbage-collected), revokes its keys, and
 * removes its members' roles. Returns the numbers of worlds and keys; undefined if there is no such project.
 */
export const deleteProject = async (
  db: Queryable,
  id: string,
): Promise<{ worlds: number; keys: number } | undefined> => {
  if ((await db.query(deleteStatement, [id])).length === 0) return undefined;
  const worlds = (await db.query(deleteWorldsStatement, [id])).length;
  const keys = (await db.query(revokeKeysStatement, [id])).length;
  await db.query(forgetMembersStatement, [id]);
  return { worlds, keys };
};

/** Settings of a project. Null stands for the default of the organization or of the installation. */
export type ProjectSettings = {
  webhookPushSince: Date | null;
  sessionTraces: boolean;
  browserTier: BrowserTier | null;
  gateThreshold: number | null;
  gateFloor: number | null;
  rateLimit: number | null;
  /** Maximum number of events of agents per month; null for no maximum. */
  eventsPerMonth: number | null;
  quotaSessions: number | null;
  quotaOpensPerMinute: number | null;
  quotaCallsPerMinute: number | null;
  quotaQueuedCalls: number | null;
  quotaWorlds: number | null;
  quotaBlobMib: number | null;
  quotaLedgerMib: number | null;
  quotaLinks: number | null;
};

const settingColumns: Record<keyof ProjectSettings, string> = {
  webhookPushSince: 'webhook_push_since',
  sessionTraces: 'session_traces',
  browserTier: 'browser_tier',
  gateThreshold: 'gate_threshold',
  gateFloor: 'gate_floor',
  rateLimit: 'rate_limit',
  eventsPerMonth: 'event_limit',
  quotaSessions: 'quota_sessions',
  quotaOpensPerMinute: 'quota_opens_per_minute',
  quotaCallsPerMinute: 'quota_calls_per_minute',
  quotaQueuedCalls: 'quota_queued_calls',
  quotaWorlds: 'quota_worlds',
  quotaBlobMib: 'quota_blob_mib',
  quotaLedgerMib: 'quota_ledger_mib',
  quotaLinks: 'quota_links',
};

const settingsStatement = statement(
  'find_project_settings',
  `select ${Object.entries(settingColumns)
    .map(([name, column]) => `p.${column} as "${name}"`)
    .join(', ')}, o.browser_tier as "organizationBrowserTier"
     from ${from} where p.id = $1 and p.deleted_at is null`,
);

/**
 * Returns the settings of a project, and the browser tier of its organization (null if none is set). Returns undefined
 * if there is no such project.
 */
export const findProjectSettings = async (
  db: Queryable,
  id: string,
): Promise<(ProjectSettings & { organizationBrowserTier: BrowserTier | null }) | undefined> =>
  (
    await db.query<ProjectSettings & { organizationBrowserTier: BrowserTier | null }>(
      settingsStatement,
      [id],
    )
  )[0];

/**
 * Settings to write. If `isPushed` becomes true, the database sets the time from which webhook deliveries are pushed.
 */
export type NewSettings = Omit<ProjectSettings, 'webhookPushSince'> & { isPushed: boolean };

// If the push is turned on again while it is on, its first start time stays.
const writeSettingsStatement = statement(
  'write_project_settings',
  `update projects set
     webhook_push_since = case when :isPushed::boolean then coalesce(webhook_push_since, now()) end,
     ${Object.entries(settingColumns)
       .filter(([name]) => name !== 'webhookPushSince')
       .map(([name, column]) => `${column} = :${name}`)
       .join(', ')}
    where id = :id and deleted_at is null`,
);

/** Writes all settings. The caller must have locked the project and read the stored settings. */
export const writeProjectSettings = async (
  db: Queryable,
  id: string,
  settings: NewSettings,
): Promise<void> => {
  await db.query(writeSettingsStatement, { id, ...settings });
};
