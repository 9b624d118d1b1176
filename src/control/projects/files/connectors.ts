/**
 * Creates, describes and opens connectors of project files. The folder of a connector lies in the project's part of the
 * folder that the operator configured. A bucket is at a public address, or at one that the operator listed. Keys of
 * buckets are encrypted and never returned to clients.
 */
import { join } from 'node:path';
import { AppError } from '#domain/error.ts';
import { joinFilePath, readFilePath } from '#domain/file-path.ts';
import { newId } from '#domain/id.ts';
import { isObject } from '#domain/json.ts';
import { readReceiverUrl } from '#egress/receiver-url.ts';
import { resolveByDns } from '#egress/resolve.ts';
import type {
  BucketBody,
  FileConnectorBody,
  FileConnectorView,
} from '#wire/public-api/projects/file-connector.ts';
import type { Queryable } from '../../db/core/database.ts';
import { violates } from '../../db/core/errors.ts';
import {
  changeFileConnector,
  connectorName,
  type FileConnectorRow,
  findFileConnector,
  hasConnection,
  insertConnection,
  insertConnector,
  mostConnectors,
} from '../../db/projects/file-connectors.ts';
import { type BucketKeys, openBucketPlace } from '../../platform/blobs/places/bucket-place.ts';
import { openFolderPlace } from '../../platform/blobs/places/folder-place.ts';
import type { Place } from '../../platform/blobs/places/place.ts';
import { seal, unseal } from '../../platform/tokens/sealed.ts';
import type { ProjectParts } from '../parts.ts';

type Needed = Pick<ProjectParts, 'config' | 'db'>;

const field = (path: string[], message: string): AppError =>
  new AppError('invalid', `${path.join('.')} ${message}`, { fields: [{ path, message }] });

const purposeOf = (projectId: string): string => `file-connector ${projectId}`;

const bucketLocation = (row: FileConnectorRow): string =>
  `s3://${row.bucket}/${row.placePath} at ${row.endpoint ?? `Amazon S3 in ${row.region}`}`;

const folderLocation = ({ config }: Pick<ProjectParts, 'config'>, row: FileConnectorRow): string =>
  join(config.files.folder ?? '', row.projectId, row.placePath);

/** Returns the client's view of a connector, without its keys. */
export const viewConnector = (
  parts: Pick<ProjectParts, 'config'>,
  row: FileConnectorRow,
): FileConnectorView => ({
  id: row.id,
  name: row.name,
  kind: row.kind,
  connectionId: row.connectionId,
  direction: row.direction,
  targetPrefix: row.targetPrefix,
  location: row.kind === 'bucket' ? bucketLocation(row) : folderLocation(parts, row),
  agentAccess: row.agentAccess,
  lastSyncAt: row.lastSyncAt?.toISOString() ?? null,
  lastStatus: row.lastStatus,
  createdAt: row.createdAt.toISOString(),
});

/** Returns the connector with this id; throws `not_found`. */
export const getConnector = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<FileConnectorRow> => {
  const row = await findFileConnector(db, projectId, id);
  if (row !== undefined) return row;
  throw new AppError(
    'not_found',
    `there is no file connector ${id}; "svc files connectors" lists them`,
  );
};

const originOf = (url: string): string | undefined => {
  const parsed = URL.parse(url);
  return parsed !== null && parsed.pathname === '/' && parsed.search === '' && parsed.hash === ''
    ? parsed.origin
    : undefined;
};

/**
 * Returns the origin of a bucket service if requests to it are allowed; throws `invalid` with the reason if they are
 * not.
 */
const readEndpoint = (given: string, named: readonly string[]): string => {
  const path = ['bucket', 'endpoint'];
  const origin = originOf(given);
  if (origin !== undefined && named.includes(origin)) return origin;
  const read = readReceiverUrl(given);
  if ('problem' in read) {
    throw field(path, `is refused: ${read.problem.message}; an operator may name others`);
  }
  if (origin === undefined) throw field(path, 'must be an origin, without a path');
  return origin;
};

/** Returns the keys given for a bucket; undefined if the bucket uses the keys of another connector. */
const readConnection = ({ config }: Needed, given: BucketBody) => {
  const { connectionId, accessKeyId, secretAccessKey, endpoint, region } = given;
  if (connectionId !== undefined) {
    const own = { accessKeyId, secretAccessKey, endpoint, region };
    const [beside] = Object.entries(own).filter(([, value]) => value !== undefined);
    if (beside === undefined) return undefined;
    throw field(
      ['bucket', beside[0]],
      'cannot be combined with connectionId: the connection has its own',
    );
  }
  if (accessKeyId === undefined) throw field(['bucket', 'accessKeyId'], 'is required');
  if (secretAccessKey === undefined) throw field(['bucket', 'secretAccessKey'], 'is required');
  return {
    keys: { accessKeyId, secretAccessKey },
    endpoint: endpoint === undefined ? null : readEndpoint(endpoint, config.files.endpoints),
    region: region ?? 'us-east-1',
  };
};

const readPlace = (parts: Needed, body: FileConnectorBody) => {
  const { kind, folder, bucket } = body;
  if (kind === 'folder') {
    if (bucket !== undefined)
      throw field(['bucket'], 'cannot be given for a connector of the kind folder');
    if (folder === undefined) throw field(['folder'], 'is required');
    if (parts.config.files.folder === null) {
      throw field(
        ['kind'],
        'folder is not available: an operator enables folders with SVC_FILES_FOLDER',
      );
    }
    return { bucket: null, placePath: joinFilePath(readFilePath('folder', folder).names) };
  }
  if (folder !== undefined)
    throw field(
      ['folder'],
      'cannot be given for a connector of the kind bucket: use bucket.prefix',
    );
  if (bucket === undefined) throw field(['bucket'], 'is required');
  const { names } = readFilePath('bucket.prefix', bucket.prefix ?? '');
  return { bucket: bucket.name, placePath: joinFilePath(names) };
};

const taken = (name: string): AppError =>
  new AppError('conflict', `there is a file connector "${name}" already`);

/** Creates a connector; its folder or bucket is not accessed yet. */
export const makeConnector = async (
  parts: Needed,
  projectId: string,
  body: FileConnectorBody,
): Promise<FileConnectorRow> => {
  const { config, db } = parts;
  const place = readPlace(parts, body);
  const connection = body.bucket === undefined ? undefined : readConnection(parts, body.bucket);
  const target = readFilePath('targetPrefix', body.targetPrefix ?? '');
  const id = newId('fcn');
  const row = {
    ...{ id, projectId, name: body.name, kind: body.kind, ...place },
    ...{ direction: body.direction ?? 'pull', agentAccess: body.agentAccess ?? true },
    targetPrefix: joinFilePath(target.names),
  };
  try {
    await db.transaction(async (tx) => {
      let connectionId = body.bucket?.connectionId ?? null;
      if (connection !== undefined) {
        connectionId = newId('cnx');
        const { keys, endpoint, region } = connection;
        const sealedKeys = seal(config.secret, purposeOf(projectId), JSON.stringify(keys));
        await insertConnection(tx, { id: connectionId, projectId, endpoint, region, sealedKeys });
      } else if (connectionId !== null && !(await hasConnection(tx, projectId, connectionId))) {
        throw field(['bucket', 'connectionId'], 'names no connection of the project');
      }
      if (await insertConnector(tx, { ...row, connectionId })) return;
      const message = `the project has ${mostConnectors} file connectors, the maximum: delete one first`;
      throw new AppError('exhausted', message, { detail: { limit: mostConnectors } });
    });
  } catch (error) {
    throw violates(error, connectorName) ? taken(body.name) : error;
  }
  return getConnector(db, projectId, id);
};

/** Renames a connector, or changes whether agents may sync it. */
export const updateConnector = async (
  db: Queryable,
  { projectId, id }: { projectId: string; id: string },
  { name = null, agentAccess = null }: { name?: string | null; agentAccess?: boolean | null },
): Promise<FileConnectorRow> => {
  try {
    await changeFileConnector(db, { projectId, id, name, agentAccess });
  } catch (error) {
    throw violates(error, connectorName) ? taken(name ?? '') : error;
  }
  return getConnector(db, projectId, id);
};

const keysOf = ({ config }: Pick<ProjectParts, 'config'>, row: FileConnectorRow): BucketKeys => {
  const text = unseal(config.secret, purposeOf(row.projectId), row.sealedKeys ?? '');
  const keys: unknown = text === undefined ? undefined : JSON.parse(text);
  if (isObject(keys)) return keys as BucketKeys;
  throw new AppError(
    'unavailable',
    'the keys of the connector cannot be decrypted any more, because the secret of the service has changed: create the connector again',
  );
};

/** Opens the folder or bucket of a connector. Throws `unavailable` with the reason if it cannot be used. */
export const openPlace = async (
  parts: Pick<ProjectParts, 'config'>,
  row: FileConnectorRow,
): Promise<Place> => {
  const { endpoint, bucket, placePath: prefix, region } = row;
  const { folder, endpoints } = parts.config.files;
  if (row.kind === 'folder') {
    if (folder === null)
      throw new AppError(
        'unavailable',
        'connectors to folders are not available any more: the operator has removed the folder from the configuration',
      );
    const names = [row.projectId, ...prefix.split('/').filter((name) => name !== '')];
    return openFolderPlace(folder, names, { make: row.direction === 'push' });
  }
  const isNamed = endpoint !== null && endpoints.includes(endpoint);
  // An endpoint that the operator once listed may no longer be listed.
  if (endpoint !== null && !isNamed) readEndpoint(endpoint, endpoints);
  const address = { bucket: bucket ?? '', prefix, region: region ?? '', endpoint };
  return openBucketPlace(address, keysOf(parts, row), isNamed ? undefined : resolveByDns);
};
