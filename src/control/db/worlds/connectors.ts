/**
 * Connectors of organizations, and their versions. An upload that never ends protects the blobs of a version. So they
 * count for the project that published the version, and are never garbage-collected.
 */
import { AppError } from '#domain/error.ts';
import { type Database, type Queryable, statement } from '../core/database.ts';
import { projectPath } from '../projects/keys.ts';
import type { ManifestFile } from './worlds.ts';

export type ConnectorVersionRow = {
  slug: string;
  number: number;
  contentHash: string;
  message: string | null;
  author: string;
  project: string;
  sizeBytes: number;
  createdAt: Date;
};

export type ConnectorRow = {
  slug: string;
  name: string;
  description: string;
  createdAt: Date;
  latest: ConnectorVersionRow;
};

const organizationOf = '(select organization_id from projects where id = :projectId)';

const versionColumns = `c.slug, v.number, v.content_hash as "contentHash", v.message, v.author,
  ${projectPath('v.project_id')} as project, u.bytes::float8 as "sizeBytes", v.created_at as "createdAt"`;

const connectorColumns = `c.name, c.description, c.created_at as "madeAt", ${versionColumns}`;

type FlatRow = ConnectorVersionRow & { name: string; description: string; madeAt: Date };

const unflatten = ({ name, description, madeAt, ...latest }: FlatRow): ConnectorRow => ({
  slug: latest.slug,
  name,
  description,
  createdAt: madeAt,
  latest,
});

const latestOf =
  'connectors c join connector_versions v on v.connector_id = c.id and v.number = c.latest join uploads u on u.id = v.upload_id';

const listStatement = statement(
  'list_connectors',
  `select ${connectorColumns} from ${latestOf}
    where c.organization_id = ${organizationOf} order by c.slug limit :limit offset :offset`,
);

const countStatement = statement(
  'count_connectors',
  `select count(*)::int as total from connectors where organization_id = ${organizationOf}`,
);

type Page = { limit: number; offset: number };

/** Lists a page of the connectors of a project's organization, sorted by slug, and counts them. */
export const listConnectors = async (
  db: Queryable,
  projectId: string,
  page: Page,
): Promise<{ rows: ConnectorRow[]; total: number }> => {
  const [rows, [count]] = await Promise.all([
    db.query<FlatRow>(listStatement, { ...page, projectId }),
    db.query<{ total: number }>(countStatement, { projectId }),
  ]);
  return { rows: rows.map(unflatten), total: count?.total ?? 0 };
};

const findStatement = statement(
  'find_connector',
  `select ${connectorColumns} from ${latestOf}
    where c.organization_id = ${organizationOf} and c.slug = :slug`,
);

/** Returns a connector of a project's organization; undefined if there is none. */
export const findConnector = async (
  db: Queryable,
  projectId: string,
  slug: string,
): Promise<ConnectorRow | undefined> => {
  const [row] = await db.query<FlatRow>(findStatement, { projectId, slug });
  return row === undefined ? undefined : unflatten(row);
};

const slugsStatement = statement(
  'list_connector_slugs',
  `select slug from connectors where organization_id = ${organizationOf} order by slug limit 1000`,
);

/** Lists the slugs of the connectors of a project's organization. */
export const listConnectorSlugs = async (db: Queryable, projectId: string): Promise<string[]> =>
  (await db.query<{ slug: string }>(slugsStatement, { projectId })).map(({ slug }) => slug);

const versionsStatement = statement(
  'list_connector_versions',
  `select ${versionColumns} from connectors c join connector_versions v on v.connector_id = c.id
     join uploads u on u.id = v.upload_id
    where c.organization_id = ${organizationOf} and c.slug = :slug
    order by v.number desc limit :limit offset :offset`,
);

/** Lists a page of the versions of a connector, newest first. Versions are numbered without gaps. */
export const listConnectorVersions = (
  db: Queryable,
  projectId: string,
  slug: string,
  page: Page,
): Promise<ConnectorVersionRow[]> =>
  db.query<ConnectorVersionRow>(versionsStatement, { ...page, projectId, slug });

const filesStatement = statement(
  'find_connector_files',
  `select v.files from connectors c join connector_versions v on v.connector_id = c.id
    where c.organization_id = ${organizationOf} and c.slug = :slug
      and v.number = coalesce(:number::int, c.latest)`,
);

/**
 * Returns the files of a version of a connector. If `number` is null, returns those of the latest version. Returns
 * undefined if there is none.
 */
export const findConnectorFiles = async (
  db: Queryable,
  projectId: string,
  slug: string,
  number: number | null,
): Promise<ManifestFile[] | undefined> =>
  (await db.query<{ files: ManifestFile[] }>(filesStatement, { projectId, slug, number }))[0]
    ?.files;

const holdStatement = statement(
  'hold_connector_upload',
  `update uploads set began_at = 'infinity' where id = $1 and began_at > '-infinity' returning id`,
);

const nextStatement = statement(
  'next_connector_version',
  `insert into connectors (id, organization_id, slug, name, description, latest)
   values (:id, ${organizationOf}, :slug, :name, coalesce(:description, ''), 1)
   on conflict (organization_id, slug) do update
      set latest = connectors.latest + 1, name = excluded.name,
          description = coalesce(:description, connectors.description)
   returning id, latest as number`,
);

const insertStatement = statement(
  'insert_connector_version',
  `insert into connector_versions (connector_id, number, project_id, author, message, content_hash, files, upload_id)
   values (:connectorId, :number, :projectId, :author, :message, :contentHash, :files, :uploadId)`,
);

export type NewConnectorVersion = {
  /** Id of the connector, used if this is its first version. */
  id: string;
  projectId: string;
  slug: string;
  name: string;
  /** Description of the connector; null to leave it unchanged. */
  description: string | null;
  message: string | null;
  author: string;
  contentHash: string;
  files: readonly ManifestFile[];
  uploadId: string;
};

/**
 * Inserts the first or the next version of a connector. Throws `timeout` if the blobs may have been garbage-collected.
 */
export const insertConnectorVersion = (db: Database, given: NewConnectorVersion): Promise<void> =>
  db.transaction(async (tx) => {
    if ((await tx.query(holdStatement, [given.uploadId])).length === 0) {
      throw new AppError(
        'timeout',
        `storing connector "${given.slug}" took too long; send it again`,
      );
    }
    const [next] = await tx.query<{ id: string; number: number }>(nextStatement, given);
    if (next === undefined)
      throw new Error(
        `the database returned no row for the inserted version of connector ${given.slug}`,
      );
    const files = JSON.stringify(given.files);
    const { id: connectorId, number } = next;
    await tx.query(insertStatement, { ...given, connectorId, number, files });
  });
