/**
 * Files of projects. Their bytes are blobs, which count for the project and are garbage-collected once nothing refers
 * to them.
 */
import type { Digest } from '#domain/world.ts';
import { type Queryable, statement } from '../core/database.ts';
import { dropBytes } from './file-folders.ts';
import { fileEntries, listSql, type Move, moveSql, type NamePage } from './folder-entries.ts';

export type FileRow = {
  id: string;
  projectId: string;
  folderId: string;
  name: string;
  digest: Digest;
  bytes: number;
  contentType: string;
  /** Author of the upload: a public key, or the e-mail address of the user whose token was used. */
  author: string;
  createdAt: Date;
  updatedAt: Date;
};

const columns = `f.id, f.project_id as "projectId", f.folder_id as "folderId", f.name, f.digest,
  f.bytes::float8 as bytes, f.content_type as "contentType", f.author, f.created_at as "createdAt",
  f.updated_at as "updatedAt"`;

const findStatement = statement(
  'find_file',
  `select ${columns} from files f where f.folder_id = $1 and f.name = $2`,
);

/** Returns the file with this name in a folder; undefined if there is none. */
export const findFile = async (
  db: Queryable,
  folderId: string,
  name: string,
): Promise<FileRow | undefined> => (await db.query<FileRow>(findStatement, [folderId, name]))[0];

const byIdStatement = statement(
  'find_file_by_id',
  `select ${columns} from files f where f.project_id = $1 and f.id = $2`,
);

/** Returns a file by its id; undefined if there is none. */
export const findFileById = async (
  db: Queryable,
  projectId: string,
  id: string,
): Promise<FileRow | undefined> => (await db.query<FileRow>(byIdStatement, [projectId, id]))[0];

const listStatement = statement('list_files', listSql(fileEntries, columns));

/** Lists a page of the files in a folder, sorted by name. */
export const listFiles = (db: Queryable, folderId: string, page: NamePage): Promise<FileRow[]> =>
  db.query<FileRow>(listStatement, { folderId, ...page });

const isHeldStatement = statement(
  'is_file_held',
  `select from files where digest = $1 and bytes = $2 and project_id = $3 limit 1`,
);

/** Returns true if a file of the project has these bytes. */
export const holdsBytes = async (
  db: Queryable,
  { projectId, digest, bytes }: Pick<FileRow, 'projectId' | 'digest' | 'bytes'>,
): Promise<boolean> => (await db.query(isHeldStatement, [digest, bytes, projectId])).length > 0;

const keepStatement = statement(
  'keep_bytes',
  `insert into kept_bytes as k (project_id, bytes) values ($1, $2)
   on conflict (project_id) do update set bytes = k.bytes + excluded.bytes`,
);

/** Adds to the number of bytes that count for a project. A negative number subtracts. */
export const countBytes = async (
  tx: Queryable,
  projectId: string,
  bytes: number,
): Promise<void> => {
  await tx.query(keepStatement, [projectId, bytes]);
};

const insertStatement = statement(
  'insert_file',
  `with above as (
     update file_folders set files = files + 1, updated_at = now() where id = :folderId
   )
   insert into files as f (id, project_id, folder_id, name, digest, bytes, content_type, author)
   values (:id, :projectId, :folderId, :name, :digest, :bytes::bigint, :contentType, :author) returning ${columns}`,
);

export type NewFile = Omit<FileRow, 'createdAt' | 'updatedAt'>;

/** Inserts a file and counts its bytes. The caller must have checked that the name is free. */
export const insertFile = async (tx: Queryable, file: NewFile): Promise<FileRow> => {
  const [row] = await tx.query<FileRow>(insertStatement, file);
  if (row === undefined) throw new Error('the database returned no row for an inserted file');
  await countBytes(tx, file.projectId, file.bytes);
  return row;
};

const removeStatement = statement(
  'remove_file',
  `with gone as (
     delete from files where id = $1 returning folder_id
   )
   update file_folders f set files = f.files - 1, updated_at = now() from gone where f.id = gone.folder_id`,
);

/** Removes a file. Its bytes are garbage-collected, unless something else has the same bytes. */
export const removeFile = async (tx: Queryable, file: FileRow): Promise<void> => {
  await tx.query(removeStatement, [file.id]);
  await countBytes(tx, file.projectId, -file.bytes);
  await dropBytes(tx, file.projectId, [file.digest]);
};

const moveStatement = statement('move_file', moveSql(fileEntries));

/** Moves a file to another folder or name. */
export const moveFile = async (tx: Queryable, move: Move): Promise<void> => {
  await tx.query(moveStatement, move);
};
