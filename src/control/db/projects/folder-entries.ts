/** SQL for the entries of folders: files, and folders in folders. Each entry is counted in the row of its folder. */

/** Page of a list by names: an offset, or the name that the page follows. */
export type NamePage = { limit: number; offset: number; after: string | null };

/** Kind of entry: its table, the column that names its folder, and the column of the folder that counts it. */
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

/** Returns the query of a page of a folder's entries (`:folderId` and a `NamePage`), by name; the table is `f` there. */
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

/** New place of an entry. The caller has checked that the name is free there. */
export type Move = { id: string; folderId: string; name: string };
