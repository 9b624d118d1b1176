/**
 * Uploads of project files: requested, sent to a signed address, confirmed. A confirmed upload must have the announced
 * size and digest; one transaction then puts the file in place. Before that it is not visible.
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

/** Announcement of the bytes that a client will send. */
export type Announced = {
  bytes: number;
  /** Base64 of the digest. */
  sha256: string;
  contentType: string;
};

/** Converts a digest in base64, as clients write it, to ours. */
export const digestFrom = (base64: string): Digest =>
  `sha256:${Buffer.from(base64, 'base64').toString('hex')}`;

/** Converts a digest to base64, as clients write it. */
export const sumOf = (digest: string): string =>
  Buffer.from(digest.slice('sha256:'.length), 'hex').toString('base64');

/** Reserves quota for bytes to come and records that they are awaited; `also` writes more in the same transaction. */
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
        throw new AppError('timeout', 'asking for the upload took too long; ask again');
      }
      await also(tx, awaited);
    });
    return awaited;
  } catch (error) {
    await abandonUpload(db, id);
    throw error;
  }
};

/** Parses the path of a file; throws `invalid` for a path in the form of a folder's. */
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

/** Checks that the bytes have arrived; bytes that the project had already need no upload to a bucket. */
const checkThere = async (
  { blobs }: Pick<ProjectParts, 'blobs'>,
  awaited: AwaitedRow,
): Promise<void> => {
  const { id, digest, bytes, received } = awaited;
  if (blobs.presigned !== undefined && received) return;
  await checkArrived(blobs, { id, digest, bytes, received });
};

/** Puts an awaited upload in its place; returns undefined if another request settled it first. */
const place = async (tx: Queryable, awaited: AwaitedRow): Promise<FileRow | undefined> => {
  const { id, projectId, digest, bytes, contentType, author, overwrite, path } = awaited;
  if (path === null) throw new Error('what has no path becomes no file');
  await lockFiles(tx, projectId);
  if (!(await settleAwaited(tx, id))) return undefined;
  const { folder, name } = await ensurePlace(tx, projectId, path.split('/'));
  const there = await findIn(tx, folder.id, name);
  checkFree(there, { path, overwrite });
  if (there?.kind === 'file') await removeFile(tx, there.file);
  const file = { id, projectId, folderId: folder.id, name, digest, bytes, contentType, author };
  return insertFile(tx, file);
};

/** Stores a local file as a project file, replacing one at the same path. */
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

/** Makes a file of an upload. If it was confirmed already, the same answer is returned again. */
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

/** Drops an upload; throws `conflict` if it has become a file by now. */
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
    throw new AppError('conflict', `${id} is confirmed: delete the file by its path`);
  }
  throw noUpload(id);
};
