/**
 * Log of the state at the mark `task`: for each row written since, the row as it was then. Its cost depends on the
 * number of changed rows and not on all rows, and it finds the difference of two states without a copy of either.
 *
 * The logged rows are in a database of their own, outside JavaScript's heap. There are no more of them than rows at the
 * mark, because a row inserted since the mark is logged only by its key, and only while it exists. For a store on a
 * base file, rows of the file are logged by position and read from the file. A record stays true whatever happens to
 * its row, so a failed transaction has nothing to undo here.
 */
import { DatabaseSync } from 'node:sqlite';
import type { Row } from '#language/contract.ts';
import { openFile } from '../files/open-file.ts';
import type { BaseFile } from '../tables/base-file.ts';
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';
import { keyOf } from '../tables/keys.ts';
import { createStatements, type Statements } from '../tables/statements.ts';
import type { TouchedRows } from './touched-rows.ts';
import type { TouchedRow } from './write-set.ts';

/**
 * A row that differs between the mark `task` and now. A row whose key changed counts as one removed row and one
 * inserted row.
 */
export type RowDifference = {
  entity: string;
  /** Canonical key, see `keys.ts`. */
  key: string;
  /** Payload texts of the row at the mark and now; null if there is no row. */
  before: string | null;
  after: string | null;
};

/** Queries about the mark `task`; both throw if there is no such mark, or a transaction is in progress. */
export type StateBefore = {
  /**
   * Returns the rows that differ between the mark and now, by entity in the contract's order: first present rows in the
   * order of their positions, then removed ones. A row that was changed and changed back is left out.
   */
  changesSinceTask(): Iterable<RowDifference>;
  /** Returns the row as it was when the mark `task` was set; undefined if it did not exist. */
  rowAtTask(entity: string, key: Row): string | undefined;
};

export type BeforeLog = {
  /** Starts the log at a new mark; drops the records of the earlier mark. */
  begin(): void;
  /** Records the changes of a transaction; must be called before the transaction is committed. */
  record(changed: readonly TouchedRow[]): void;
  /** Drops the records, because the store was rolled back to the mark. */
  forget(): void;
  /** Ends the log: the mark no longer exists. */
  end(): void;
  changes(): Iterable<RowDifference>;
  rowAt(entity: string, key: Row): string | undefined;
  close(): void;
};

/**
 * Table of the records. If `payload` and `position` are null, there was no row. If `position` is set, the row is the
 * file's row at that position.
 */
const table = `CREATE TABLE before (
  entity TEXT NOT NULL, key TEXT NOT NULL, payload TEXT, position INTEGER, PRIMARY KEY (entity, key)
) WITHOUT ROWID`;

const noteSql =
  'INSERT INTO before (entity, key, payload, position) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';

const forgetSql =
  'DELETE FROM before WHERE entity = ? AND key = ? AND payload IS NULL AND position IS NULL';

type Noted = { payload: string | null; position: number | null };

const readNoteSql = 'SELECT payload, position FROM before WHERE entity = ? AND key = ?';
const noteKeysSql = 'SELECT key FROM before WHERE entity = ? ORDER BY key';

/**
 * Creates the database of records. It is opened with the first record, because most sessions write little or nothing.
 */
const createNotes = () => {
  let opened: { db: DatabaseSync; prepare: Statements } | undefined;
  return {
    /** Opens the database if needed, and returns its statements. */
    open(): Statements {
      if (opened === undefined) {
        const db = new DatabaseSync(':memory:');
        db.exec(`PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY; ${table}`);
        opened = { db, prepare: createStatements(db) };
      }
      return opened.prepare;
    },
    read: ({ name }: CatalogEntity, key: string): Noted | undefined =>
      opened?.prepare(readNoteSql).get(name, key) as Noted | undefined,
    keys: ({ name }: CatalogEntity): string[] =>
      (opened?.prepare(noteKeysSql).all(name) ?? []).map(({ key }) => key as string),
    drop(): void {
      opened?.db.close();
      opened = undefined;
    },
  };
};

/** Creates a reader for rows of the base file, which opens the file at the first read. */
const createFileReader = (base: BaseFile | undefined) => {
  let opened: { db: DatabaseSync; prepare: Statements } | undefined;
  return {
    rowAt({ name, table: rows, position }: CatalogEntity, at: number): string {
      if (base === undefined) throw new Error('the store is upon no file');
      if (opened === undefined) {
        if (!base.isWhole()) throw new Error(`the file of base rows ${base.path} was changed`);
        const db = openFile(base.path);
        opened = { db, prepare: createStatements(db) };
      }
      const found = opened.prepare(`SELECT payload FROM ${rows} WHERE ${position} = ?`).get(at);
      if (typeof found?.payload === 'string') return found.payload;
      throw new Error(`the file of base rows has no row of ${name} at ${at}`);
    },
    close: () => opened?.db.close(),
  };
};

/** Creates a reader for the present rows. */
const createPresent = (prepare: Statements) => ({
  text: ({ table: rows }: CatalogEntity, key: string): string | undefined =>
    prepare(`SELECT payload FROM ${rows} WHERE _key = ?`).get(key)?.payload as string | undefined,
  position: ({ table: rows, position }: CatalogEntity, key: string): number | undefined =>
    prepare(`SELECT ${position} AS position FROM ${rows} WHERE _key = ?`).get(key)?.position as
      | number
      | undefined,
});

/** Creates the log over the present rows. */
export const createBeforeLog = (
  catalog: Catalog,
  prepare: Statements,
  { base, touched }: { base: BaseFile | undefined; touched: Pick<TouchedRows, 'of' | 'isOfBase'> },
): BeforeLog => {
  const file = createFileReader(base);
  const notes = createNotes();
  const present = createPresent(prepare);
  let isMarked = false;
  /** Positions of the base file's rows that may have differed already at the time of the mark. */
  let changedAtMark = new Map<string, ReadonlySet<number>>();

  const checkMark = (): void => {
    if (!isMarked) throw new Error('the store has no mark "task"');
  };

  const isAsInFile = (entity: CatalogEntity, position: number): boolean =>
    touched.isOfBase(entity, position) && !changedAtMark.get(entity.name)?.has(position);

  const textOf = (entity: CatalogEntity, { payload, position }: Noted): string | null =>
    position === null ? payload : file.rowAt(entity, position);

  /** Returns the keys of the rows written since the mark: of present rows by position, then of removed ones. */
  const keysOf = (entity: CatalogEntity): string[] =>
    notes
      .keys(entity)
      .map((key) => ({ key, at: present.position(entity, key) ?? Infinity }))
      .sort((a, b) => (a.at === b.at ? 0 : a.at - b.at))
      .map(({ key }) => key);

  return {
    begin() {
      notes.drop();
      isMarked = true;
      changedAtMark = new Map(catalog.entities.map(({ name }) => [name, touched.of(name)]));
    },
    record(changed) {
      if (!isMarked || changed.length === 0) return;
      const write = notes.open();
      for (const { entity, key, before, after, position } of changed) {
        if (before === undefined) {
          write(noteSql).run(entity.name, key, null, null);
        } else if (isAsInFile(entity, position)) {
          write(noteSql).run(entity.name, key, null, position);
        } else {
          write(noteSql).run(entity.name, key, before, null);
        }
        if (after === undefined) write(forgetSql).run(entity.name, key);
      }
    },
    forget: notes.drop,
    end() {
      notes.drop();
      isMarked = false;
    },
    *changes() {
      checkMark();
      for (const entity of catalog.entities) {
        for (const key of keysOf(entity)) {
          const note = notes.read(entity, key);
          if (note === undefined) continue;
          const before = textOf(entity, note);
          const after = present.text(entity, key) ?? null;
          if (before !== after) yield { entity: entity.name, key, before, after };
        }
      }
    },
    rowAt(name, fields) {
      checkMark();
      const entity = catalog.entity(name);
      const key = keyOf(entity, fields);
      const note = notes.read(entity, key);
      return note === undefined ? present.text(entity, key) : (textOf(entity, note) ?? undefined);
    },
    close() {
      notes.drop();
      file.close();
    },
  };
};
