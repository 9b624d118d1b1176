/**
 * The parts of a store over one database, without its lock: what `world-store.ts` serves and what
 * `snapshot.ts` builds with.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Contract } from '#language/contract.ts';
import { createRowChecker } from '#language/schema/checkers.ts';
import { type CopyReader, createCopyReader } from './read/copying.ts';
import { createReader, type Reader } from './read/read.ts';
import { type Catalog, createCatalog } from './tables/catalog.ts';
import { openEmpty, openSnapshot } from './tables/open.ts';
import { createStatements } from './tables/statements.ts';
import { createChangeLog, type RowVersions } from './write/change-log.ts';
import { createKeptNumbers } from './write/kept-numbers.ts';
import { createNumbers, type NumberKeeper } from './write/numbers.ts';
import { createPositions } from './write/positions.ts';
import { createRoom } from './write/room.ts';
import { createRowCounts } from './write/row-counts.ts';
import { createTransactions, type Transactions } from './write/transaction.ts';
import { createWriter, type Writer } from './write/write.ts';

export type StoreReader = Reader &
  CopyReader &
  Pick<NumberKeeper, 'nextNumber' | 'forgetNumbers' | 'keptNumbers'> & {
    /** How far the rows have come, for whoever keeps a copy of them or what was made of them. */
    versions: RowVersions;
    /** Rows of every entity, as of the end of the last transaction. */
    counts(): Record<string, number>;
  };

export type StoreParts = {
  db: DatabaseSync;
  catalog: Catalog;
  reader: StoreReader;
  writer: Writer;
  transactions: Transactions;
};

export type StoreOptions = {
  contract: Contract;
  /** Bytes that `buildSnapshot` made; without them every table is empty. */
  snapshot?: Uint8Array | undefined;
  /** How large the database may get; 256 MiB unless it is given. */
  maxBytes?: number | undefined;
};

/** Opens a database, empty or from a snapshot, and puts the parts over it together. */
export const assembleStore = ({ contract, snapshot, maxBytes }: StoreOptions): StoreParts => {
  const { db, sum } =
    snapshot === undefined ? { db: openEmpty(contract), sum: 0n } : openSnapshot(snapshot);
  const catalog = createCatalog(contract);
  const prepare = createStatements(db);
  const room = createRoom(prepare, maxBytes);
  const numbers = createNumbers(catalog, prepare, createKeptNumbers(db, prepare, room));
  const positions = createPositions(catalog, prepare);
  const changes = createChangeLog(catalog);
  const counts = createRowCounts(catalog, prepare);
  const transactions = createTransactions(db, catalog, prepare, {
    changes,
    counts,
    positions,
    room,
    sum,
  });
  const writer = createWriter({
    catalog,
    prepare,
    checker: createRowChecker(contract),
    positions,
    changes,
    numbers,
    room,
    writeSet: transactions.writeSet,
  });
  const reader = {
    ...createReader(catalog, prepare),
    ...createCopyReader(catalog, prepare),
    ...numbers,
    versions: changes,
    counts: counts.all,
  };
  return { db, catalog, reader, writer, transactions };
};
