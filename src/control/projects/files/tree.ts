/**
 * The tree of a project's files: finds entries by path, creates folders on the way to a file, moves and deletes
 * entries. All changes happen in the caller's transaction, which must hold the lock of the project's files.
 */
import { AppError } from '#domain/error.ts';
import { type FilePath, filePathLimits, joinFilePath } from '#domain/file-path.ts';
import type { Queryable } from '../../db/core/database.ts';
import {
  detachFolder,
  type FolderRow,
  findChildFolder,
  findFolder,
  insertFolder,
  measureFolder,
  moveFolder,
  walkFolders,
} from '../../db/projects/file-folders.ts';
import { type FileRow, findFile, moveFile, removeFile } from '../../db/projects/files.ts';

/** Entry at a path. */
export type Entry = { kind: 'file'; file: FileRow } | { kind: 'folder'; folder: FolderRow };

const invalidPath = (field: string, message: string): AppError =>
  new AppError('invalid', `${field} ${message}`, { fields: [{ path: [field], message }] });

const nothingAt = (path: string): AppError =>
  new AppError('not_found', `there is nothing at "${path}"`);

const taken = (path: string, kind: Entry['kind']): AppError =>
  new AppError('conflict', `there is a ${kind} at "${path}" already`, { detail: { path, kind } });

/** Returns the file or folder with this name in a folder; undefined if there is none. */
export const findIn = async (
  db: Queryable,
  folderId: string,
  name: string,
): Promise<Entry | undefined> => {
  const file = await findFile(db, folderId, name);
  if (file !== undefined) return { kind: 'file', file };
  const folder = await findChildFolder(db, folderId, name);
  return folder === undefined ? undefined : { kind: 'folder', folder };
};

/** Returns the entry at a path; a path that ends with a slash matches folders only. */
export const findEntry = async (
  db: Queryable,
  projectId: string,
  { names, isFolder }: FilePath,
): Promise<Entry | undefined> => {
  const name = names.at(-1);
  if (name === undefined) {
    const folder = await findFolder(db, projectId, []);
    return folder === undefined ? undefined : { kind: 'folder', folder };
  }
  const parent = await findFolder(db, projectId, names.slice(0, -1));
  const entry = parent === undefined ? undefined : await findIn(db, parent.id, name);
  return isFolder && entry?.kind === 'file' ? undefined : entry;
};

/** Returns the file at a path; throws `not_found` if there is none. */
export const getFile = async (
  db: Queryable,
  projectId: string,
  path: FilePath,
): Promise<FileRow> => {
  const entry = await findEntry(db, projectId, path);
  if (entry?.kind === 'file') return entry.file;
  const at = joinFilePath(path.names);
  if (entry === undefined) throw new AppError('not_found', `there is no file at "${at}"`);
  throw new AppError('not_found', `there is a folder at "${at}", and no file`);
};

/**
 * Returns the folder at a path; creates the folder and its parents if they do not exist. Throws `conflict` if there is
 * a file in place of one of them.
 */
export const ensureFolder = async (
  tx: Queryable,
  projectId: string,
  names: readonly string[],
): Promise<{ folder: FolderRow; isNew: boolean }> => {
  const known = await walkFolders(tx, projectId, names);
  let folder = known.at(-1) ?? (await insertFolder(tx, { projectId, parentId: null, name: '' }));
  const missing = names.slice(Math.max(0, known.length - 1));
  for (const [index, name] of missing.entries()) {
    if ((await findFile(tx, folder.id, name)) !== undefined) {
      throw taken(joinFilePath(names.slice(0, names.length - missing.length + index + 1)), 'file');
    }
    folder = await insertFolder(tx, { projectId, parentId: folder.id, name });
  }
  return { folder, isNew: missing.length > 0 };
};

/** Returns the folder that a path leads to, created if it does not exist, and the name of the entry in it. */
export const ensurePlace = async (
  tx: Queryable,
  projectId: string,
  names: readonly string[],
): Promise<{ folder: FolderRow; name: string }> => {
  const { folder } = await ensureFolder(tx, projectId, names.slice(0, -1));
  return { folder, name: names.at(-1) ?? '' };
};

/**
 * Throws `conflict` if a file cannot be stored at a path, because a folder is there, or a file that must not be
 * replaced.
 */
export const checkFree = (
  entry: Entry | undefined,
  { path, overwrite }: { path: string; overwrite: boolean },
): void => {
  if (entry === undefined || (entry.kind === 'file' && overwrite)) return;
  if (entry.kind === 'folder') throw taken(path, 'folder');
  const { message, detail } = taken(path, 'file');
  throw new AppError('conflict', `${message}: give "overwrite": true to replace it`, { detail });
};

/** Deletes the entry at a path with all its contents; returns the number of files deleted. */
export const removeAt = async (
  tx: Queryable,
  projectId: string,
  path: FilePath,
): Promise<number> => {
  if (path.names.length === 0)
    throw invalidPath('path', 'is the top folder, which cannot be deleted');
  const entry = await findEntry(tx, projectId, path);
  if (entry === undefined) throw nothingAt(joinFilePath(path.names));
  if (entry.kind === 'file') {
    await removeFile(tx, entry.file);
    return 1;
  }
  const { files } = await measureFolder(tx, entry.folder.id);
  await detachFolder(tx, entry.folder.id);
  return files;
};

const startsWith = (names: readonly string[], start: readonly string[]): boolean =>
  start.every((name, index) => names[index] === name);

const checkMove = async (
  tx: Queryable,
  entry: Entry,
  from: readonly string[],
  to: readonly string[],
): Promise<number> => {
  if (entry.kind === 'file') return 1;
  if (to.length > from.length && startsWith(to, from)) {
    throw invalidPath('toPath', 'lies in the folder that is to be moved');
  }
  const { files, height } = await measureFolder(tx, entry.folder.id);
  if (to.length - 1 + height + (files > 0 ? 1 : 0) > filePathLimits.depth) {
    throw invalidPath(
      'toPath',
      `is nested too deeply: files would lie more than ${filePathLimits.depth} folders deep`,
    );
  }
  return files;
};

/**
 * Moves a file or a folder to a path at which there is nothing. If the target path ends with a slash, the entry is
 * moved into that folder. Returns the number of files whose path has changed.
 */
export const moveAt = async (
  tx: Queryable,
  projectId: string,
  { from, to }: { from: FilePath; to: FilePath },
): Promise<number> => {
  const name = from.names.at(-1);
  if (name === undefined) throw invalidPath('fromPath', 'is the top folder, which cannot be moved');
  const entry = await findEntry(tx, projectId, from);
  if (entry === undefined) throw nothingAt(joinFilePath(from.names));
  const names = to.isFolder ? [...to.names, name] : to.names;
  if (names.length === from.names.length && startsWith(names, from.names)) return 0;
  if (names.length > filePathLimits.depth) {
    throw invalidPath(
      'toPath',
      `is nested too deeply: at most ${filePathLimits.depth} folders are allowed`,
    );
  }
  const files = await checkMove(tx, entry, from.names, names);
  const place = await ensurePlace(tx, projectId, names);
  const there = await findIn(tx, place.folder.id, place.name);
  if (there !== undefined) throw taken(joinFilePath(names), there.kind);
  if (entry.kind === 'file') {
    await moveFile(tx, { id: entry.file.id, folderId: place.folder.id, name: place.name });
  } else {
    await moveFolder(tx, { id: entry.folder.id, folderId: place.folder.id, name: place.name });
  }
  return files;
};
