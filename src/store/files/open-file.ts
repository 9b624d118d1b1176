/**
 * A store's database on a file that nobody writes to: mapped, so that its pages are the system's, which all
 * processes of the machine share, and read without locks.
 */
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/** More than any file has: SQLite maps what there is. */
const mappedBytes = 2 ** 31 - 65_536;

/** How SQLite is told of the file. */
export const fileAddress = (path: string): string => {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', 'ro');
  url.searchParams.set('immutable', '1');
  return url.href;
};

/** Maps the pages of an attached database, `main` unless it is named. */
export const mapPages = (db: DatabaseSync, schema = 'main'): void =>
  db.exec(`PRAGMA ${schema}.mmap_size = ${mappedBytes}`);

/** Opens the file read-only. Throws when it is no database. */
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
