/**
 * Folders of project files. A transaction that adds, moves or removes names locks the project's files. So no name is
 * used for both a folder and a file, and no folder gets inside itself.
 */
import { newId } from '#domain/id.ts';
import { type Queryable, statement } from '../core/database.ts';
import { folderEntries, listSql, type Move, moveSql, type NamePage } from './folder-entries.ts';

export type FolderRow = {
  id: string;
  parentId: string | null;
  name: string;
  /** Number of files, and number of folders, directly in the folder. */
  files: number;
  folders: number;
  createdAt: Date;
  updatedAt: Date;
};

const columns = `f.id, f.parent_id as "parentId", f.name, f.files, f.folders,
  f.created_at as "createdAt", f.updated_at as "updatedAt"`;

const lockStatement = statement(
  'lock_files',
  `select pg_advisory_xact_lock(hashtextextended('files ' || $1, 0))`,
);

/** Locks the files of a project until this transaction ends. */
export const lockFiles = async (tx: Queryable, projectId: string): Promise<void> => {
  await tx.query(lockStatement, [projectId]);
};

const walkStatement = statement(
  'walk_file_folders',
  `with recursive walk as (
     select id, 0 as depth from file_folders
      where project_id = :projectId and parent_id is null and deleted_at is null
     union all
     select f.id, w.depth + 1 from walk w
       join file_folders f on f.parent_id = w.id and f.name = (:names::text[])[w.depth + 1]
   )
   select ${columns}, w.depth from walk w join file_folders f on f.id = w.id order by w.depth`,
);

/**
 * Returns the existing folders along the path with these names, starting with the root. Returns none if the project has
 * never had any files.
 */
export const walkFolders = (
  db: Queryable,
  projectId: string,
  names: readonly string[],
): Promise<FolderRow[]> => db.query<FolderRow>(walkStatement, { projectId, names });

/** Returns the folder at the path with these names; undefined if there is none. */
export const findFolder = async (
  db: Queryable,
  projectId: string,
  names: readonly string[],
): Promise<FolderRow | undefined> => (await walkFolders(db, projectId, names))[names.length];

const childStatement = statement(
  'find_child_folder',
  `select ${columns} from file_folders f where f.parent_id = $1 and f.name = $2`,
);

/** Returns the folder with this name in a given folder; undefined if there is none. */
export const findChildFolder = async (
  db: Queryable,
  parentId: string,
  name: string,
): Promise<FolderRow | undefined> =>
  (await db.query<FolderRow>(childStatement, [parentId, name]))[0];

const namesStatement = statement(
  'names_of_file_folder',
  `with recursive above as (
     select parent_id, name, 0 as distance from file_folders where id = $1
     union all
     select f.parent_id, f.name, a.distance + 1 from above a join file_folders f on f.id = a.parent_id
   )
   select name from above where parent_id is not null order by distance desc`,
);

/** Returns the names along the path to a folder, starting at the top. */
export const readNames = async (db: Queryable, id: string): Promise<string[]> =>
  (await db.query<{ name: string }>(namesStatement, [id])).map(({ name }) => name);

const insertStatement = statement(
  'insert_file_folder',
  `with above as (
     update file_folders set folders = folders + 1, updated_at = now() where id = :parentId
   )
   insert into file_folders as f (id, project_id, parent_id, name)
   values (:id, :projectId, :parentId, :name) returning ${columns}`,
);

/**
 * Creates a folder in another folder. If the parent is null, creates the root folder of the project. The caller must
 * have checked that the name is free.
 */
export const insertFolder = async (
  tx: Queryable,
  folder: { projectId: string; parentId: string | null; name: string },
): Promise<FolderRow> => {
  const [row] = await tx.query<FolderRow>(insertStatement, { ...folder, id: newId('fld') });
  if (row === undefined) throw new Error('the database returned no row for an inserted folder');
  return row;
};

const beneath = `with recursive beneath as (
     select id, files, 1 as height from file_folders where id = $1
     union all
     select f.id, f.files, b.height + 1 from beneath b join file_folders f on f.parent_id = b.id
   )`;

const measureStatement = statement(
  'measure_file_folder',
  `${beneath} select coalesce(sum(files), 0)::int as files, max(height)::int as height from beneath`,
);

/** Counts the files in a folder and its subfolders, and the levels of folders, including the folder itself. */
export const measureFolder = async (
  db: Queryable,
  id: string,
): Promise<{ files: number; height: number }> => {
  const [row] = await db.query<{ files: number; height: number }>(measureStatement, [id]);
  return row ?? { files: 0, height: 0 };
};

const moveStatement = statement('move_file_folder', moveSql(folderEntries));

/** Moves a folder with its contents into another folder. */
export const moveFolder = async (tx: Queryable, move: Move): Promise<void> => {
  await tx.query(moveStatement, move);
};

const detachStatement = statement(
  'detach_file_folder',
  `with former as (
     select parent_id from file_folders where id = $1
   ), counted as (
     update file_folders f set folders = f.folders - 1, updated_at = now() from former where f.id = former.parent_id
   )
   update file_folders set parent_id = null, deleted_at = now() where id = $1`,
);

/** Deletes a folder. Its contents become unreachable at once, and are removed in batches later. */
export const detachFolder = async (tx: Queryable, id: string): Promise<void> => {
  await tx.query(detachStatement, [id]);
};

const listStatement = statement('list_file_folders', listSql(folderEntries, columns));

/** Lists a page of the folders in a folder, sorted by name. */
export const listFolders = (
  db: Queryable,
  folderId: string,
  page: NamePage,
): Promise<FolderRow[]> => db.query<FolderRow>(listStatement, { folderId, ...page });

/** Maximum number of files, and of folders, that are removed in one batch. */
const mostAtOnce = 10_000;
const uploadBlobs = 1_024;

const detachedStatement = statement(
  'find_detached_folder',
  `select id, project_id as "projectId" from file_folders where deleted_at is not null
    order by deleted_at limit 1 for update skip locked`,
);

const emptyStatement = statement(
  'empty_detached_folder',
  `${beneath}, gone as (
     delete from files where id in (
       select f.id from files f join beneath b on b.id = f.folder_id limit ${mostAtOnce})
     returning project_id, digest, bytes
   ), counted as (
     update kept_bytes k set bytes = k.bytes - g.bytes
       from (select project_id, sum(bytes) as bytes from gone group by 1) g where g.project_id = k.project_id
   )
   select array_agg(distinct digest) as digests from gone`,
);

// Removes the innermost folders first; they are empty by now.
const removeStatement = statement(
  'remove_detached_folders',
  `${beneath}, leaves as (
     select b.id from beneath b where not exists (select from file_folders c where c.parent_id = b.id)
      limit ${mostAtOnce}
   )
   delete from file_folders where id in (select id from leaves) returning id`,
);

const dropStatement = statement(
  'drop_kept_bytes',
  `insert into uploads (id, project_id, blobs, bytes, began_at, makes_world)
   values (:id, :projectId, :digests, 0, '-infinity', false)`,
);

/** Releases bytes of a project. They are garbage-collected, unless something else has the same bytes. */
export const dropBytes = async (
  tx: Queryable,
  projectId: string,
  digests: readonly string[],
): Promise<void> => {
  for (let at = 0; at < digests.length; at += uploadBlobs) {
    const some = digests.slice(at, at + uploadBlobs);
    await tx.query(dropStatement, { id: newId('upl'), projectId, digests: some });
  }
};

/** Removes a batch of contents from the folder that was deleted first. Returns false if there is no deleted folder. */
export const emptyDetached = async (tx: Queryable): Promise<boolean> => {
  const [folder] = await tx.query<{ id: string; projectId: string }>(detachedStatement, []);
  if (folder === undefined) return false;
  const [gone] = await tx.query<{ digests: string[] | null }>(emptyStatement, [folder.id]);
  if (gone?.digests) await dropBytes(tx, folder.projectId, gone.digests);
  else await tx.query(removeStatement, [folder.id]);
  return true;
};
