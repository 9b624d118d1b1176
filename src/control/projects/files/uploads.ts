/**
 * Uploads of project files: a client requests an upload, sends the bytes to a signed address, and confirms. A confirmed
 * upload must have the announced size and digest. One transaction then adds the file to the project; before that it is
 * not visible.
 */
import { AppError } from '#domain/error.ts';
import { type FilePath, joinFilePath, readFilePath } from '#domain/file-path.ts';
import { isId, newId } from '#domain/id.ts';
import type { Digest } from '#domain/world.ts';
import { quotaError } from '../../base/fairness/quotas.ts';
import type { Queryable } from '../../db/core/database.ts';
import {
  type AwaitedRow,
  discardAwaited,
  findAwaited,
  insertAwaited,
  settleAwaited,
} from '../../db/projects/awaited-files.ts';
import { lockFiles, readNames } from '../../db/projects/file-folders.ts';
import {
  type FileRow,
  findFileById,
  holdsBytes,
  insertFile,
  removeFile,
} from '../../db/projects/files.ts';
import { abandonUpload, beginUpload } from '../../db/projects/uploads.ts';
import { checkArrived } from '../../platform/blobs/arrived.ts';
import type { AwaitedBlob } from '../../platform/blobs/blobs.ts';
import type { ProjectParts } from '../parts.ts';
import { checkFree, ensurePlace, findEntry, findIn } from './tree.ts';

/** Size, digest and type of the bytes that a client will send. */
export type Announced = {
  bytes: number;
  /** SHA-256 digest of the bytes, in base64. */
  sha256: string;
  contentType: string;
};

/** Converts a digest in base64, the form of clients, to the form of this service. */
export const digestFrom = (base64: string): Digest =>
  `sha256:${Buffer.from(base64, 'base64').toString('hex')}`;

/** Converts a digest of this service to base64, the form of clients. */
export const sumOf = (digest: string): string =>
  Buffer.from(digest.slice('sha256:'.length), 'hex').toString('base64');

/**
 * Reserves quota for the bytes of an upload, and records that they are awaited. `also` may write more in the same
 * transaction.
 */
export const awaitBytes = async (
  { db, config }: Pick<ProjectParts, 'db' | 'config'>,
  given: Omit<AwaitedRow, 'id' | 'received'>,
  also: (tx: Queryable, awaited: AwaitedRow) => Promise<void> = async () => undefined,
): Promise<AwaitedRow> => {
  const { projectId, digest, bytes } = given;
  const id = newId('fil');
  const wanted = { id, projectId, makesWorld: false, blobs: [digest], bytes };
  const refusal = await beginUpload(db, wanted, config.quotas);
  if (refusal !== undefined) throw quotaError(refusal);
  try {
    // If a file of the project has the same bytes, they are in the store and are now kept by the upload.
    const awaited = { ...given, id, received: await holdsBytes(db, given) };
    await db.transaction(async (tx) => {
      if (!(await insertAwaited(tx, awaited))) {
        throw new AppError('timeout', 'creating the upload took too long; request it again');
      }
      await also(tx, awaited);
    });
    return awaited;
  } catch (error) {
    await abandonUpload(db, id);
    throw error;
  }
};

/** Parses the path of a file; throws `invalid` for the path of a folder, which ends with a slash. */
export const readPathOfFile = (field: string, given: string): FilePath => {
  const path = readFilePath(field, given);
  if (!path.isFolder) return path;
  const message = 'must be the path of a file, without "/" at its end';
  throw new AppError('invalid', `${field} ${message}`, { fields: [{ path: [field], message }] });
};

/** Creates the upload of a file. */
export const requestUpload = async (
  parts: Pick<ProjectParts, 'db' | 'config'>,
  projectId: string,
  wanted: Announced & { path: string; overwrite: boolean; author: string },
): Promise<AwaitedRow> => {
  const at = readPathOfFile('path', wanted.path);
  const { bytes, contentType, overwrite, author } = wanted;
  const path = joinFilePath(at.names);
  checkFree(await findEntry(parts.db, projectId, at), { path, overwrite });
  const digest = digestFrom(wanted.sha256);
  return awaitBytes(parts, { projectId, path, digest, bytes, contentType, author, overwrite });
};

/**
 * Throws if the bytes have not arrived. With presigned addresses of a bucket, bytes that the project already has need
 * no upload.
 */
const checkThere = async (
  { blobs }: Pick<ProjectParts, 'blobs'>,
  awaited: AwaitedRow,
): Promise<void> => {
  const { id, digest, bytes, received } = awaited;
  if (blobs.presigned !== undefined && received) return;
  await checkArrived(blobs, { id, digest, bytes, received });
};

/**
 * Stores an awaited upload as a file; returns undefined if another request has confirmed or dropped the upload first.
 */
const place = async (tx: Queryable, awaited: AwaitedRow): Promise<FileRow | undefined> => {
  const { id, projectId, digest, bytes, contentType, author, overwrite, path } = awaited;
  if (path === null) throw new Error('an upload without a path cannot become a file');
  await lockFiles(tx, projectId);
  if (!(await settleAwaited(tx, id))) return undefined;
  const { folder, name } = await ensurePlace(tx, projectId, path.split('/'));
  const there = await findIn(tx, folder.id, name);
  checkFree(there, { path, overwrite });
  if (there?.kind === 'file') await removeFile(tx, there.file);
  const file = { id, projectId, folderId: folder.id, name, digest, bytes, contentType, author };
  return insertFile(tx, file);
};

/** Stores a local file as a project file, replacing a file at the same path. */
export const storeFile = async (
  parts: Pick<ProjectParts, 'db' | 'blobs' | 'config'>,
  projectId: string,
  given: AwaitedBlob & { path: string; contentType: string; author: string; from: string },
): Promise<void> => {
  const { from, ...rest } = given;
  const awaited = await awaitBytes(parts, { ...rest, projectId, overwrite: true });
  try {
    if (!awaited.received) await parts.blobs.putFile(from);
    await parts.db.transaction((tx) => place(tx, awaited));
  } catch (error) {
    await discardAwaited(parts.db, awaited.id);
    throw error;
  }
};

const noUpload = (id: string): AppError =>
  new AppError('not_found', `there is no open upload ${id}: request a new one`);

const findConfirmed = async (db: Queryable, projectId: string, id: string) => {
  const file = await findFileById(db, projectId, id);
  if (file === undefined) throw noUpload(id);
  return { file, path: joinFilePath([...(await readNames(db, file.folderId)), file.name]) };
};

/** Confirms an upload, which makes it a file. If the upload was confirmed before, returns the same answer again. */
export const confirmUpload = async (
  parts: Pick<ProjectParts, 'db' | 'blobs'>,
  projectId: string,
  id: string,
): Promise<{ file: FileRow; path: string }> => {
  const { db, blobs } = parts;
  if (!isId('fil', id)) throw noUpload(id);
  const awaited = await findAwaited(db, projectId, id);
  if (awaited === undefined || awaited.path === null) return findConfirmed(db, projectId, id);
  await checkThere(parts, awaited);
  const file = await db.transaction((tx) => place(tx, awaited));
  if (file === undefined) return findConfirmed(db, projectId, id);
  await blobs.presigned?.drop(id);
  return { file, path: awaited.path };
};

/** Drops an upload; throws `conflict` if the upload has already been confirmed. */
export const discardUpload = async (
  { db, blobs }: Pick<ProjectParts, 'db' | 'blobs'>,
  projectId: string,
  id: string,
): Promise<AwaitedRow> => {
  const awaited = isId('fil', id) ? await findAwaited(db, projectId, id) : undefined;
  if (awaited !== undefined && awaited.path !== null && (await discardAwaited(db, id))) {
    await blobs.presigned?.drop(id);
    return awaited;
  }
  if (isId('fil', id) && (await findFileById(db, projectId, id)) !== undefined) {
    throw new AppError('conflict', `${id} is already confirmed: delete the file by its path`);
  }
  throw noUpload(id);
};
