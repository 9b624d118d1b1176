/**
 * The state as the mark `task` has it, as far as it was changed since: for each row that was written to, the row
 * as it was before. It costs what was changed and not what there is, and tells the difference of two states
 * without either being copied.
 *
 * The rows lie in a database of their own, apart from JavaScript's heap. They are no more than the rows that there
 * were at the mark: a row that came since is noted by its key for as long as it is there. Of a store upon a file,
 * rows that are in the file are noted by their positions and read there.
 *
 * What is noted of a row stays true whatever becomes of it, so a transaction that fails need take nothing back.
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

/** A row that differs. One whose key changed is a row that went and one that came. */
export type RowDifference = {
  entity: string;
  /** The canonical key, see `keys.ts`. */
  key: string;
  /** Payload texts; null where there is no row. */
  before: string | null;
  after: string | null;
};

/** The state at the mark `task`; both throw where there is no such mark, or a transaction is under way. */
export type StateBefore = {
  /**
   * Rows that differ between the mark and now, by entity in the contract's order: those that are there in the order
   * of their positions, then those that are gone. What was changed and changed back is not among them.
   */
  changesSinceTask(): Iterable<RowDifference>;
  /** The row as it was at the mark. */
  rowAtTask(entity: string, key: Row): string | undefined;
};

export type BeforeLog = {
  /** The mark is set here; whatever was known of an earlier one is forgotten. */
  begin(): void;
  /** To be called with what a transaction changed, before it is kept. */
  record(changed: readonly TouchedRow[]): void;
  /** The store is back at the mark. */
  forget(): void;
  /** There is no such mark any more. */
  end(): void;
  changes(): Iterable<RowDifference>;
  rowAt(entity: string, key: Row): string | undefined;
  close(): void;
};

/** `payload` and `position` null: there was no row. `position`: it was the file's row there. */
const table = `CREATE TABLE before (
  entity TEXT NOT NULL, key TEXT NOT NULL, payload TEXT, position INTEGER, PRIMARY KEY (entity, key)
) WITHOUT ROWID`;

const noteSql =
  'INSERT INTO before (entity, key, payload, position) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING';

const forgetSql =
  'DELETE FROM before WHERE entity = ? AND key = ? AND payload IS NULL AND position IS NULL';

type Noted = { payload: string | null; position: number | null };

const openNotes = (): DatabaseSync => {
  const db = new DatabaseSync(':memory:');
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY; ${table}`);
  return db;
};

/** Reads rows of the file, which is opened when the first is asked for. */
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

/** Over the rows as they are now. */
export const createBeforeLog = (
  catalog: Catalog,
  prepare: Statements,
  { base, touched }: { base: BaseFile | undefined; touched: Pick<TouchedRows, 'of' | 'isOfBase'> },
): BeforeLog => {
  const file = createFileReader(base);
  /** Whether there is a mark. The database of notes is made with the first: most sessions only read, or little. */
  let isMarked = false;
  let notes: { db: DatabaseSync; prepare: Statements } | undefined;
  /** Rows of the file that may have been changed by the time of the mark. */
  let changedAtMark = new Map<string, ReadonlySet<number>>();

  const checkMark = (): void => {
    if (!isMarked) throw new Error('the store has no mark "task"');
  };

  const forget = (): void => {
    notes?.db.close();
    notes = undefined;
  };

  const writeNotes = (): Statements => {
    if (notes === undefined) {
      const db = openNotes();
      notes = { db, prepare: createStatements(db) };
    }
    return notes.prepare;
  };

  const isAsInFile = (entity: CatalogEntity, position: number): boolean =>
    touched.isOfBase(entity, position) && !changedAtMark.get(entity.name)?.has(position);

  const textOf = (entity: CatalogEntity, { payload, position }: Noted): string | null =>
    position === null ? payload : file.rowAt(entity, position);

  const now = (entity: CatalogEntity, key: string) =>
    prepare(`SELECT ${entity.position} AS position FROM ${entity.table} WHERE _key = ?`).get(key)
      ?.position as number | undefined;

  /** Keys that were written to: of rows that are there by their positions, then of those that are gone. */
  const keysOf = (entity: CatalogEntity): string[] => {
    const sql = 'SELECT key FROM before WHERE entity = ? ORDER BY key';
    const keys = notes?.prepare(sql).all(entity.name) ?? [];
    return keys
      .map(({ key }) => ({ key: key as string, at: now(entity, key as string) ?? Infinity }))
      .sort((a, b) => (a.at === b.at ? 0 : a.at - b.at))
      .map(({ key }) => key);
  };

  const readNote = (entity: CatalogEntity, key: string): Noted | undefined =>
    notes
      ?.prepare('SELECT payload, position FROM before WHERE entity = ? AND key = ?')
      .get(entity.name, key) as Noted | undefined;

  const readNow = ({ table: rows }: CatalogEntity, key: string): string | undefined =>
    prepare(`SELECT payload FROM ${rows} WHERE _key = ?`).get(key)?.payload as string | undefined;

  return {
    begin() {
      forget();
      isMarked = true;
      changedAtMark = new Map(catalog.entities.map(({ name }) => [name, touched.of(name)]));
    },
    record(changed) {
      if (!isMarked || changed.length === 0) return;
      const write = writeNotes();
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
    forget,
    end() {
      forget();
      isMarked = false;
    },
    *changes() {
      checkMark();
      for (const entity of catalog.entities) {
        for (const key of keysOf(entity)) {
          const note = readNote(entity, key);
          if (note === undefined) continue;
          const before = textOf(entity, note);
          const after = readNow(entity, key) ?? null;
          if (before !== after) yield { entity: entity.name, key, before, after };
        }
      }
    },
    rowAt(name, fields) {
      checkMark();
      const entity = catalog.entity(name);
      const key = keyOf(entity, fields);
      const note = readNote(entity, key);
      return note === undefined ? readNow(entity, key) : (textOf(entity, note) ?? undefined);
    },
    close() {
      forget();
      file.close();
    },
  };
};
