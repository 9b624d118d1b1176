/**
 * SQL for the entries of folders, which are files and subfolders. The row of a folder has the numbers of its entries.
 */

/**
 * Page of a list that is sorted by name. If `after` is given, the page starts after that name; if it is null, at
 * `offset`.
 */
export type NamePage = { limit: number; offset: number; after: string | null };

/**
 * Kind of entry: the table of the entries, the column with the folder that an entry is in, and the folder's column with
 * the number of entries.
 */
type EntryKind = {
  table: 'files' | 'file_folders';
  parent: 'folder_id' | 'parent_id';
  count: 'files' | 'folders';
};

export const fileEntries: EntryKind = { table: 'files', parent: 'folder_id', count: 'files' };
export const folderEntries: EntryKind = {
  table: 'file_folders',
  parent: 'parent_id',
  count: 'folders',
};

/**
 * Returns the query for a page of a folder's entries, sorted by name. Its parameters are `:folderId` and a `NamePage`.
 * `columns` refers to the table as `f`.
 */
export const listSql = ({ table, parent }: EntryKind, columns: string): string =>
  `select ${columns} from ${table} f
    where f.${parent} = :folderId and (:after::text is null or f.name > :after)
    order by f.name limit :limit offset :offset`;

/** Returns the statement that moves the entry `:id` into the folder `:folderId` as `:name`. */
export const moveSql = ({ table, parent, count }: EntryKind): string =>
  `with former as (
     select ${parent} as folder_id from ${table} where id = :id
   ), counted as (
     update file_folders f
        set ${count} = f.${count} - (f.id = former.folder_id)::int + (f.id = :folderId)::int, updated_at = now()
       from former where f.id in (former.folder_id, :folderId)
   )
   update ${table} set ${parent} = :folderId, name = :name, updated_at = now() where id = :id`;

/** New folder and name of an entry. The caller must have checked that the name is free in the folder. */
export type Move = { id: string; folderId: string; name: string };
