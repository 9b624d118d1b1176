/**
 * File connectors: folders and buckets with which a project's files are synced, the credentials of the buckets, and the
 * state of each sync.
 */
import type { Digest } from '#domain/world.ts';
import { type Queryable, statement } from '../core/database.ts';

export type ConnectorKind = 'folder' | 'bucket';
export type SyncDirection = 'pull' | 'push';
export type SyncStatus = 'complete' | 'partial' | 'failed';

export type FileConnectorRow = {
  id: string;
  projectId: string;
  name: string;
  kind: ConnectorKind;
  direction: SyncDirection;
  /** Folder in the project to which files are synced, without a slash at its end; empty for the root. */
  targetPrefix: string;
  agentAccess: boolean;
  connectionId: string | null;
  bucket: string | null;
  placePath: string;
  /** For a bucket: the endpoint of the service, the region, and the encrypted credentials; null for a folder. */
  endpoint: string | null;
  region: string | null;
  sealedKeys: string | null;
  lastSyncAt: Date | null;
  lastStatus: SyncStatus | null;
  createdAt: Date;
};

const columns = `c.id, c.project_id as "projectId", c.name, c.kind, c.direction, c.target_prefix as "targetPrefix",
  c.agent_access as "agentAccess", c.connection_id as "connectionId", c.bucket, c.place_path as "placePath",
  n.endpoint, n.region, n.sealed_keys as "sealedKeys", c.last_sync_at as "lastSyncAt",
  c.last_status as "lastStatus", c.created_at as "createdAt"`;
const joined = 'file_connectors c left join file_connections n on n.id = c.connection_id';

/** Maximum number of connectors of one project. */
export const mostConnectors = 100;
/** Unique constraint on the names of the connectors in a project. */
export const connectorName = 'file_connectors_name';

export type NewConnection = {
  id: string;
  projectId: string;
  endpoint: string | null;
  region: string;
  sealedKeys: string;
};

const insertConnectionStatement = statement(
  'insert_file_connection',
  `insert into file_connections (id, project_id, endpoint, region, sealed_keys)
   values (:id, :projectId, :endpoint, :region, :sealedKeys)`,
);

export const insertConnection = async (tx: Queryable, connection: NewConnection): Promise<void> => {
  await tx.query(insertConnectionStatement, connection);
};

const hasConnectionStatement = statement(
  'has_file_connection',
  'select from file_connections where project_id = $1 and id = $2 for share',
);

/**
 * Returns true if the project has credentials with this id. Locks them, so that they are not deleted during this
 * transaction.
 */
export const hasConnection = async (
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<boolean> => (await tx.query(hasConnectionStatement, [projectId, id])).length > 0;

const insertStatement = statement(
  'insert_file_connector',
  `insert into file_connectors
     (id, project_id, name, kind, direction, target_prefix, agent_access, connection_id, bucket, place_path)
   select :id, :projectId, :name, :kind, :direction, :targetPrefix, :agentAccess, :connectionId, :bucket, :placePath
    where (select count(*) from file_connectors where project_id = :projectId) < ${mostConnectors}
   returning id`,
);

export type NewConnector = Omit<
  FileConnectorRow,
  'endpoint' | 'region' | 'sealedKeys' | 'lastSyncAt' | 'lastStatus' | 'createdAt'
>;

/** Inserts a connector. Returns false if the project has the maximum number of connectors. */
export const insertConnector = async (tx: Queryable, row: NewConnector): Promise<boolean> =>
  (await tx.query(insertStatement, row)).length > 0;

const findStatement = statement(
  'find_file_connector',
  `select ${columns} from ${joined} where c.project_id = $1 and c.id = $2`,
);

export const findFileConnector = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<FileConnectorRow | undefined> =>
  (await db.query<FileConnectorRow>(findStatement, [projectId, id]))[0];

const listStatement = statement(
  'list_file_connectors',
  `select ${columns} from ${joined} where c.project_id = :projectId
    order by c.name, c.id limit :limit offset :offset`,
);

/** Lists a page of the connectors of a project, sorted by name. */
export const listFileConnectors = (
  db: Queryable,
  projectId: string,
  page: { limit: number; offset: number },
): Promise<FileConnectorRow[]> => db.query<FileConnectorRow>(listStatement, { projectId, ...page });

const countStatement = statement(
  'count_file_connectors',
  'select count(*)::int as total from file_connectors where project_id = $1',
);

export const countFileConnectors = async (db: Queryable, projectId: string): Promise<number> =>
  (await db.query<{ total: number }>(countStatement, [projectId]))[0]?.total ?? 0;

const changeStatement = statement(
  'change_file_connector',
  `update file_connectors set name = coalesce(:name, name), agent_access = coalesce(:agentAccess, agent_access)
    where project_id = :projectId and id = :id returning id`,
);

/** Renames a connector, or sets whether agents may sync it. Returns false if it does not exist. */
export const changeFileConnector = async (
  db: Queryable,
  change: { projectId: string; id: string; name: string | null; agentAccess: boolean | null },
): Promise<boolean> => (await db.query(changeStatement, change)).length > 0;

const removeStatement = statement(
  'remove_file_connector',
  `delete from file_connectors where project_id = $1 and id = $2 returning connection_id as "connectionId"`,
);
const removeConnectionStatement = statement(
  'remove_file_connection',
  `delete from file_connections n where n.id = $1
      and not exists (select from file_connectors c where c.connection_id = n.id)`,
);

/**
 * Removes a connector; also removes its credentials if no other connector uses them. Returns false if the connector
 * does not exist. The synced files stay.
 */
export const removeFileConnector = async (
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<boolean> => {
  const [gone] = await tx.query<{ connectionId: string | null }>(removeStatement, [projectId, id]);
  if (gone === undefined) return false;
  if (gone.connectionId !== null) await tx.query(removeConnectionStatement, [gone.connectionId]);
  return true;
};

/**
 * Time after which a sync that was not renewed is considered dead, in seconds. The next constants are the maximum
 * numbers of concurrent syncs, for a project and in all.
 */
const silentSeconds = 60;
const mostOfProject = 4;
const mostInAll = 32;

const lockStatement = statement(
  'lock_file_syncs',
  `select pg_advisory_xact_lock(hashtextextended('file syncs', 0))`,
);
const claimStatement = statement(
  'claim_file_connector',
  `update file_connectors set sync_id = :syncId, syncing_until = now() + interval '${silentSeconds} seconds'
    where id = :id and (syncing_until is null or syncing_until < now())
      and (select count(*) from file_connectors where project_id = :projectId and syncing_until > now()) < ${mostOfProject}
      and (select count(*) from file_connectors where syncing_until > now()) < ${mostInAll}
   returning id`,
);
const busyStatement = statement(
  'is_file_connector_busy',
  'select from file_connectors where id = $1 and syncing_until > now()',
);

/**
 * Claims a connector for a sync. Returns `busy` if another sync of the connector is running, `full` if the maximum
 * number of syncs is running.
 */
export const claimSync = async (
  tx: Queryable,
  claim: { projectId: string; id: string; syncId: string },
): Promise<'taken' | 'busy' | 'full'> => {
  await tx.query(lockStatement, []);
  if ((await tx.query(claimStatement, claim)).length > 0) return 'taken';
  return (await tx.query(busyStatement, [claim.id])).length > 0 ? 'busy' : 'full';
};

const renewStatement = statement(
  'renew_file_sync',
  `update file_connectors set syncing_until = now() + interval '${silentSeconds} seconds'
    where id = $1 and sync_id = $2`,
);

/** Renews the claim of a running sync. */
export const renewSync = async (db: Queryable, id: string, syncId: string): Promise<void> => {
  await db.query(renewStatement, [id, syncId]);
};

const endStatement = statement(
  'end_file_sync',
  `update file_connectors set syncing_until = null, sync_id = null, last_sync_at = now(), last_status = :status
    where id = :id and sync_id = :syncId`,
);

/** Ends a sync and records how it ended. */
export const endSync = async (
  db: Queryable,
  end: { id: string; syncId: string; status: SyncStatus },
): Promise<void> => {
  await db.query(endStatement, end);
};

export type SyncEntry = { path: string; stamp: string; digest: Digest };

const entriesStatement = statement(
  'list_file_sync_entries',
  'select path, stamp, digest from file_connector_entries where connector_id = $1',
);

/** Returns the state that the last sync recorded, by path. */
export const readEntries = async (
  db: Queryable,
  connectorId: string,
): Promise<Map<string, SyncEntry>> => {
  const rows = await db.query<SyncEntry>(entriesStatement, [connectorId]);
  return new Map(rows.map((row) => [row.path, row]));
};

const putEntryStatement = statement(
  'put_file_sync_entry',
  `insert into file_connector_entries (connector_id, path, stamp, digest)
   select id, :path, :stamp, :digest from file_connectors where id = :connectorId
   on conflict (connector_id, path) do update set stamp = excluded.stamp, digest = excluded.digest`,
);

/** Records that the project and the external place have the same bytes under a path. */
export const putEntry = async (
  db: Queryable,
  connectorId: string,
  entry: SyncEntry,
): Promise<void> => {
  await db.query(putEntryStatement, { connectorId, ...entry });
};

const dropEntriesStatement = statement(
  'drop_file_sync_entries',
  'delete from file_connector_entries where connector_id = $1 and path = any($2::text[])',
);

/** Removes the recorded state of paths that no longer exist. */
export const dropEntries = async (
  db: Queryable,
  connectorId: string,
  paths: readonly string[],
): Promise<void> => {
  if (paths.length > 0) await db.query(dropEntriesStatement, [connectorId, paths]);
};

export type FileBelow = { path: string; digest: Digest; bytes: number; contentType: string };

const belowStatement = statement(
  'list_files_below',
  `with recursive walk as (
     select id, ''::text collate "C" as path from file_folders where id = :folderId
     union all
     select f.id, w.path || f.name || '/' from walk w join file_folders f on f.parent_id = w.id
   )
   select w.path || x.name as path, x.digest, x.bytes::float8 as bytes, x.content_type as "contentType"
     from walk w join files x on x.folder_id = w.id
    where :paths::text[] is null or w.path || x.name = any(:paths)
    order by 1 limit :limit`,
);

/**
 * Lists the files in a folder and its subfolders, by their paths relative to the folder. If `paths` is not null, only
 * these paths are listed.
 */
export const listFilesBelow = (
  db: Queryable,
  folderId: string,
  { paths, limit }: { paths: readonly string[] | null; limit: number },
): Promise<FileBelow[]> => db.query<FileBelow>(belowStatement, { folderId, paths, limit });
