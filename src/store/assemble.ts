/**
 * Assembles the parts of a store over one database, without the store's lock. `world-store.ts` serves the parts to
 * callers, and `snapshot.ts` builds snapshots with them.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Contract } from '#language/contract.ts';
import { createRowChecker } from '#language/schema/checkers.ts';
import { openFile } from './files/open-file.ts';
import { type CopyReader, createCopyReader } from './read/copying.ts';
import { createOrders } from './read/orders.ts';
import { createReader, type Reader } from './read/read.ts';
import { type Differences, scanDifferences, scanSum } from './read/scan.ts';
import { createWindowReader, type WindowReader } from './read/windows.ts';
import { type BaseFile, noOutermost, outermostOf } from './tables/base-file.ts';
import { type Catalog, createCatalog } from './tables/catalog.ts';
import { type Opened, openEmpty, openOnFile, openSnapshot } from './tables/open.ts';
import { createStatements } from './tables/statements.ts';
import { createChangeLog, type RowVersions } from './write/change-log.ts';
import { createFreeSpace } from './write/free-space.ts';
import { createKeptNumbers, keptNumbersTable } from './write/kept-numbers.ts';
import { createNumbers, type NumberKeeper } from './write/numbers.ts';
import { createPositions } from './write/positions.ts';
import { createRowCounts } from './write/row-counts.ts';
import { createBeforeLog } from './write/state-before.ts';
import { createTouchedRows, noTouchedRows, type TouchedRows } from './write/touched-rows.ts';
import { createTransactions, type Transactions } from './write/transaction.ts';
import { createWriter, type Writer } from './write/write.ts';

export type UponFile = Differences & { path: string };

export type StoreReader = Reader &
  CopyReader &
  WindowReader &
  Pick<NumberKeeper, 'nextNumber' | 'forgetNumbers' | 'keptNumbers'> & {
    /** Versions of the rows, for callers that keep copies of rows or results computed from rows. */
    versions: RowVersions;
    /**
     * Base file of the store, and the positions at which the store's rows may differ from the file's; undefined without
     * a base file.
     */
    upon: UponFile | undefined;
    /** Returns the number of rows by entity, as of the end of the last transaction. */
    counts(): Record<string, number>;
  };

export type StoreParts = {
  db: DatabaseSync;
  reader: StoreReader;
  writer: Writer;
  transactions: Transactions;
  /** Computes the sum of the state digest from the rows themselves. */
  scan(): bigint;
  /** Closes the databases. */
  close(): void;
};

export type StoreOptions = {
  contract: Contract;
  /** Snapshot as `buildSnapshot` returned it; without one every table is empty. */
  snapshot?: Uint8Array | undefined;
  /**
   * Path of the unpacked snapshot, in place of the bytes. The file must not change while it is open; other processes
   * may open it, too.
   */
  file?: string | undefined;
  /** Size limit of the database in bytes, not counting the file; absent: 256 MiB. */
  maxBytes?: number | undefined;
};

/**
 * Computes the sum of a store on a base file from the rows that may differ from the file's. Throws if the file has
 * changed, because its rows are then unknown.
 */
const scanUponFile = (
  { db, sum, base }: { db: DatabaseSync; sum: bigint; base: BaseFile },
  catalog: Catalog,
  touched: TouchedRows,
): bigint => {
  if (!base.isWhole()) throw new Error(`the file of base rows ${base.path} was changed`);
  const file = openFile(base.path);
  try {
    return scanDifferences(db, { db: file, sum }, catalog, touched);
  } finally {
    file.close();
  }
};

const open = ({ contract, snapshot, file }: StoreOptions): Opened => {
  if (file !== undefined) return openOnFile(file);
  if (snapshot !== undefined) return openSnapshot(snapshot);
  return { db: openEmpty(contract), sum: 0n, counts: undefined };
};

/** Opens a database, empty or from a snapshot, and assembles the parts over it. */
export const assembleStore = (options: StoreOptions): StoreParts => {
  const { contract, maxBytes } = options;
  const { db, base, sum, counts: known } = open(options);
  const catalog = createCatalog(contract);
  const prepare = createStatements(db);
  const outermost = base === undefined ? noOutermost : outermostOf(db, keptNumbersTable);
  outermost.begin();
  const positions = createPositions(catalog, prepare);
  const touched =
    base === undefined ? noTouchedRows : createTouchedRows(base.pages, positions.save());
  const freeSpace = createFreeSpace(prepare, touched, { maxBytes, basePages: base?.pages });
  const numbers = createNumbers(catalog, prepare, createKeptNumbers(db, prepare, freeSpace));
  const changes = createChangeLog(catalog);
  const counts = createRowCounts(catalog, prepare, known);
  const before = createBeforeLog(catalog, prepare, { base, touched });
  const transactions = createTransactions(db, catalog, prepare, {
    changes,
    counts,
    positions,
    freeSpace,
    touched,
    outermost,
    before,
    sum,
  });
  const writer = createWriter({
    catalog,
    prepare,
    checker: createRowChecker(contract),
    positions,
    changes,
    touched,
    numbers,
    freeSpace,
    writeSet: transactions.writeSet,
  });
  const scan = (): bigint => {
    if (base === undefined) return scanSum(db, catalog);
    const found = scanUponFile({ db, sum, base }, catalog, touched);
    touched.settle();
    return found;
  };
  const rows = createReader(catalog, prepare, createOrders(prepare, changes));
  const reader: StoreReader = {
    ...rows,
    // The count of all rows is known, except during a transaction that has written.
    count: (entity, where = []) =>
      where.length > 0 || transactions.isWriting()
        ? rows.count(entity, where)
        : counts.of(catalog.entity(entity).name),
    ...createCopyReader(catalog, prepare),
    ...createWindowReader(catalog, prepare),
    ...numbers,
    forgetNumbers() {
      transactions.writeSet(); // counts as a write, so that a rollback restores them
      numbers.forgetNumbers();
    },
    versions: changes,
    upon: base && { path: base.path, of: touched.of, last: touched.last },
    counts: counts.all,
  };
  const close = (): void => {
    before.close();
    db.close();
  };
  return { db, reader, writer, transactions, scan, close };
};
