/**
 * Opens a store's database from a read-only file. The file is mapped, so that all processes of the machine share its
 * pages in the system's cache, and it is read without locks.
 */
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/** Limit of the mapping in bytes. It exceeds the size of any file, because SQLite maps only what exists. */
const mappedBytes = 2 ** 31 - 65_536;

/** Returns the URI by which SQLite opens the file read-only and without locks. */
export const fileAddress = (path: string): string => {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', 'ro');
  url.searchParams.set('immutable', '1');
  return url.href;
};

/** Maps the pages of a database, by default `main`, into memory. */
export const mapPages = (db: DatabaseSync, schema = 'main'): void =>
  db.exec(`PRAGMA ${schema}.mmap_size = ${mappedBytes}`);

/** Opens the file read-only. Throws if the file is not a database. */
export const openFile = (path: string): DatabaseSync => {
  const db = new DatabaseSync(fileAddress(path), { readOnly: true });
  try {
    db.exec('PRAGMA query_only = ON; PRAGMA temp_store = MEMORY');
    mapPages(db);
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
};
