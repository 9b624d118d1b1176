/**
 * A store's database: in memory, with the tables of a contract, empty or from a snapshot.
 *
 * A snapshot is such a database, serialised and compressed. Its table `svc_store` holds the sum of the
 * state digest, so that opening costs a copy of the bytes and no look at the rows.
 */
import { DatabaseSync } from 'node:sqlite';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Contract } from '#language/contract.ts';
import { createTablesSql } from '#language/sql/ddl.ts';

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

const summaryTable = 'CREATE TABLE svc_store (sum TEXT NOT NULL)';

/** An empty database with the contract's tables. */
export const openEmpty = (contract: Pick<Contract, 'entities'>): DatabaseSync => {
  const db = new DatabaseSync(':memory:');
  db.exec(`PRAGMA page_size = ${pageBytes};`);
  db.exec(settings);
  db.exec(createTablesSql(contract));
  return db;
};

export type OpenedSnapshot = { db: DatabaseSync; sum: bigint };

/** The database that a snapshot holds. Throws when the bytes are none. */
export const openSnapshot = (snapshot: Uint8Array): OpenedSnapshot => {
  const limits = { maxOutputLength: maxStoreBytes + spareBytes, chunkSize: chunkBytes };
  const bytes = zstdDecompressSync(snapshot, limits);
  const db = new DatabaseSync(':memory:');
  db.deserialize(bytes);
  db.exec(settings);
  const row = db.prepare('SELECT sum FROM svc_store').get();
  if (typeof row?.sum !== 'string') throw new Error('the snapshot lacks its state sum');
  return { db, sum: BigInt(row.sum) };
};

/** Makes the snapshot of a database that nobody will write to any more. */
export const packSnapshot = (db: DatabaseSync, sum: bigint): Uint8Array => {
  db.exec(summaryTable);
  db.prepare('INSERT INTO svc_store (sum) VALUES (?)').run(sum.toString());
  return zstdCompressSync(db.serialize());
};
