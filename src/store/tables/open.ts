/**
 * Opens a store's database: in memory, with the tables of a contract, empty or from a snapshot; or on the file of an
 * unpacked snapshot, see `base-file.ts`.
 *
 * A snapshot is such a database, serialised and compressed. Its table `svc_store` has the sum of the state digest, and
 * `svc_counts` the number of rows, so that opening a snapshot reads no rows.
 */
import { DatabaseSync } from 'node:sqlite';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Contract } from '#language/contract.ts';
import { createTablesSql } from '#language/sql/ddl.ts';
import { type BaseFile, openBaseFile } from './base-file.ts';
import { addMatching } from './matching.ts';

/**
 * Size limit of one world's database, in bytes. A container needs this much memory in addition to that of its programs.
 */
export const maxStoreBytes = 256 * 1024 * 1024;
export const pageBytes = 4096;
/** Bytes beyond the size limit, for writes that must succeed even in a full world, see `free-space.ts`. */
const spareBytes = 8 * 1024 * 1024;
/** Buffer size for unpacking, in bytes. Node allocates buffers of this size; its default is small. */
const chunkBytes = 1024 * 1024;

/**
 * Settings of a database in memory. Nothing may touch a disk, because a host's root is read-only, and nothing in the
 * database outlives the process. So journals stay in memory. The store itself checks foreign keys, see `references.ts`.
 */
const settings = `
  PRAGMA journal_mode = MEMORY;
  PRAGMA temp_store = MEMORY;
  PRAGMA synchronous = OFF;
  PRAGMA foreign_keys = OFF;
  PRAGMA max_page_count = ${(maxStoreBytes + spareBytes) / pageBytes};
`;

/** Sets the size limit of a database in bytes, in place of the default. */
export const boundBytes = (db: DatabaseSync, maxBytes: number): void =>
  db.exec(`PRAGMA max_page_count = ${Math.floor(maxBytes / pageBytes)}`);

/** Summary of all rows, which is stored with the rows, so that no scan is needed to read it. */
export type Summary = {
  /** Sum of the state digest. */
  sum: bigint;
  /** Number of rows by entity; undefined if a snapshot of an earlier release lacks the counts. */
  counts: ReadonlyMap<string, number> | undefined;
};

const summaryTables = `
  CREATE TABLE svc_store (sum TEXT NOT NULL);
  CREATE TABLE svc_counts (entity TEXT PRIMARY KEY, rows INTEGER NOT NULL) WITHOUT ROWID;
`;

/** Opens an empty database with the contract's tables. */
export const openEmpty = (contract: Pick<Contract, 'entities'>): DatabaseSync => {
  const db = new DatabaseSync(':memory:');
  db.exec(`PRAGMA page_size = ${pageBytes};`);
  db.exec(settings);
  addMatching(db);
  db.exec(createTablesSql(contract));
  return db;
};

export type Opened = Summary & { db: DatabaseSync; base?: BaseFile };

const readCounts = (db: DatabaseSync): Summary['counts'] => {
  const hasCounts = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'svc_counts'").get();
  if (hasCounts === undefined) return undefined;
  const rows = db.prepare('SELECT entity, rows FROM svc_counts').all();
  return new Map(rows.map(({ entity, rows: count }) => [entity as string, Number(count)]));
};

/** Reads the summary from a snapshot's database. Throws if the database has none. */
export const readSummary = (db: DatabaseSync): Summary => {
  const row = db.prepare('SELECT sum FROM svc_store').get();
  if (typeof row?.sum !== 'string') throw new Error('the snapshot lacks its state sum');
  return { sum: BigInt(row.sum), counts: readCounts(db) };
};

/** Writes the summary into a database that is to become a snapshot; no further write may follow. */
export const writeSummary = (
  db: DatabaseSync,
  { sum, counts }: { sum: bigint; counts: Readonly<Record<string, number>> },
): void => {
  db.exec(summaryTables);
  db.prepare('INSERT INTO svc_store (sum) VALUES (?)').run(sum.toString());
  const count = db.prepare('INSERT INTO svc_counts (entity, rows) VALUES (?, ?)');
  for (const [entity, rows] of Object.entries(counts)) count.run(entity, rows);
};

/** Opens the database that a snapshot holds. Throws if the bytes are not a snapshot. */
export const openSnapshot = (snapshot: Uint8Array): Opened => {
  const limits = { maxOutputLength: maxStoreBytes + spareBytes, chunkSize: chunkBytes };
  const bytes = zstdDecompressSync(snapshot, limits);
  const db = new DatabaseSync(':memory:');
  db.deserialize(bytes);
  db.exec(settings);
  addMatching(db);
  return { db, ...readSummary(db) };
};

/** Opens a database on an unpacked snapshot, whose file stays unchanged. */
export const openOnFile = (path: string): Opened => {
  const { db, base } = openBaseFile(path);
  try {
    const most = base.pages + (maxStoreBytes + spareBytes) / pageBytes;
    db.exec(`PRAGMA max_page_count = ${most}`);
    addMatching(db);
    return { db, base, ...readSummary(db) };
  } catch (error) {
    db.close();
    throw error;
  }
};

/** Builds the snapshot of a database; no further write to it may follow. */
export const packSnapshot = (
  db: DatabaseSync,
  summary: Parameters<typeof writeSummary>[1],
): Uint8Array => {
  writeSummary(db, summary);
  return zstdCompressSync(db.serialize());
};
