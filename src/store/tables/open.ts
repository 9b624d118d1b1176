/**
 * A store's database: in memory, with the tables of a contract, empty or from a snapshot; or upon the file of
 * an unpacked snapshot, see `base-file.ts`.
 *
 * A snapshot is such a database, serialised and compressed. Its table `svc_store` holds the sum of the
 * state digest and `svc_counts` the number of rows, so that opening costs no look at the rows.
 */
import { DatabaseSync } from 'node:sqlite';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Contract } from '#language/contract.ts';
import { createTablesSql } from '#language/sql/ddl.ts';
import { type BaseFile, openBaseFile } from './base-file.ts';
import { addMatching } from './matching.ts';

/** Largest database of one world; a container has to hold it beside its own needs. */
export const maxStoreBytes = 256 * 1024 * 1024;
export const pageBytes = 4096;
/** Beyond that, for what has to be written in a full world, too: see `room.ts`. */
const spareBytes = 8 * 1024 * 1024;
/** Room for what is unpacked. Node asks for it in portions of this size, and the usual ones are small. */
const chunkBytes = 1024 * 1024;

/**
 * Nothing may touch a disk (a host's root is read-only) and nothing here outlives the process, so
 * journals stay in memory. Foreign keys are the store's own to check, see `references.ts`.
 */
const settings = `
  PRAGMA journal_mode = MEMORY;
  PRAGMA temp_store = MEMORY;
  PRAGMA synchronous = OFF;
  PRAGMA foreign_keys = OFF;
  PRAGMA max_page_count = ${(maxStoreBytes + spareBytes) / pageBytes};
`;

/** Gives a database a size limit of its own, in bytes, in place of the usual one. */
export const boundBytes = (db: DatabaseSync, maxBytes: number): void =>
  db.exec(`PRAGMA max_page_count = ${Math.floor(maxBytes / pageBytes)}`);

/** What is known of all rows without a look at them. */
export type Summary = {
  /** Sum of the state digest. */
  sum: bigint;
  /** Rows by entity; undefined in snapshots of earlier releases. */
  counts: ReadonlyMap<string, number> | undefined;
};

const summaryTables = `
  CREATE TABLE svc_store (sum TEXT NOT NULL);
  CREATE TABLE svc_counts (entity TEXT PRIMARY KEY, rows INTEGER NOT NULL) WITHOUT ROWID;
`;

/** An empty database with the contract's tables. */
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

/** What a snapshot's database says of its rows. Throws when it is none. */
export const readSummary = (db: DatabaseSync): Summary => {
  const row = db.prepare('SELECT sum FROM svc_store').get();
  if (typeof row?.sum !== 'string') throw new Error('the snapshot lacks its state sum');
  return { sum: BigInt(row.sum), counts: readCounts(db) };
};

/** Writes it into a database that is to become a snapshot, and to which nobody will write any more. */
export const writeSummary = (
  db: DatabaseSync,
  { sum, counts }: { sum: bigint; counts: Readonly<Record<string, number>> },
): void => {
  db.exec(summaryTables);
  db.prepare('INSERT INTO svc_store (sum) VALUES (?)').run(sum.toString());
  const count = db.prepare('INSERT INTO svc_counts (entity, rows) VALUES (?, ?)');
  for (const [entity, rows] of Object.entries(counts)) count.run(entity, rows);
};

/** The database that a snapshot holds. Throws when the bytes are none. */
export const openSnapshot = (snapshot: Uint8Array): Opened => {
  const limits = { maxOutputLength: maxStoreBytes + spareBytes, chunkSize: chunkBytes };
  const bytes = zstdDecompressSync(snapshot, limits);
  const db = new DatabaseSync(':memory:');
  db.deserialize(bytes);
  db.exec(settings);
  addMatching(db);
  return { db, ...readSummary(db) };
};

/** The database upon an unpacked snapshot, which stays as it is. */
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

/** Makes the snapshot of a database that nobody will write to any more. */
export const packSnapshot = (
  db: DatabaseSync,
  summary: Parameters<typeof writeSummary>[1],
): Uint8Array => {
  writeSummary(db, summary);
  return zstdCompressSync(db.serialize());
};
