/**
 * Writes single rows. Each row is checked against the contract before it is stored, and each change is recorded in the
 * transaction's write set. SQLite enforces primary keys and unique lists (`collisions.ts` words the refusals). Foreign
 * keys are checked at the transaction's end (`references.ts`), unless the caller wants them checked at once.
 */
import type { Row } from '#language/contract.ts';
import { valueAtPath } from '#language/field-path.ts';
import type { RowChecker } from '#language/schema/checkers.ts';
import { StoreRefusal } from '../refusal.ts';
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';
import { describeKey, keyOf } from '../tables/keys.ts';
import type { Statements } from '../tables/statements.ts';
import type { ChangeLog } from './change-log.ts';
import { refuseCopy, refuseFull, translateFailure } from './collisions.ts';
import type { FreeSpace } from './free-space.ts';
import type { NumberKeeper } from './numbers.ts';
import type { Positions } from './positions.ts';
import { checkParentsNow } from './references.ts';
import { type TouchedRows, treesOf } from './touched-rows.ts';
import type { WriteSet } from './write-set.ts';

/**
 * Time at which a reference to a missing row is refused. `now`: when the row is written, if it can be decided then.
 * `at_end`: at the end of the transaction, so that the missing row may be written later.
 */
export type ReferenceTime = 'now' | 'at_end';

export type Writer = {
  /**
   * Inserts a row and returns its payload. Unless `references` is `now`, references are checked at the end of the
   * transaction.
   */
  insert(entity: string, row: Row, references?: ReferenceTime): string;
  /** Inserts a row that the contract's row checker has already accepted. */
  insertChecked(entity: string, row: Row): string;
  /** Merges `patch` into the row's top level; returns the new payload. */
  update(entity: string, key: Row, patch: Row, references?: ReferenceTime): string;
  remove(entity: string, key: Row): void;
};

export type WriterParts = {
  catalog: Catalog;
  prepare: Statements;
  checker: RowChecker;
  positions: Positions;
  changes: Pick<ChangeLog, 'record'>;
  touched: Pick<TouchedRows, 'record' | 'isOfBase'>;
  numbers: NumberKeeper;
  freeSpace: FreeSpace;
  /** Returns the write set of the current transaction; throws if there is none. */
  writeSet(): WriteSet;
};

const checkRow = (checker: RowChecker, entity: CatalogEntity, row: Row): void => {
  const problems = checker.check(entity.name, row);
  const [first, ...others] = problems;
  if (first === undefined) return;
  const { pointer } = first;
  const field = first.field === '' ? undefined : first.field;
  const detail = `${first.detail}${others.length === 0 ? '' : ` (and ${others.length} more)`}`;
  throw new StoreRefusal({ entity: entity.name, kind: 'shape', field, pointer, detail, problems });
};

/** Returns true if a change moves a row within an index, though its key stays the same. */
const isMoved = ({ unique, references }: CatalogEntity, before: Row, after: Row): boolean =>
  [...unique.flat(), ...references.flatMap(({ fields }) => fields.map((field) => [field]))].some(
    (path) => valueAtPath(before, path) !== valueAtPath(after, path),
  );

const moved = (): boolean => true;
const unmoved = (): boolean => false;

const readRow = (
  prepare: Statements,
  entity: CatalogEntity,
  key: string,
): { payload: string; position: number } => {
  const sql = `SELECT payload, ${entity.position} AS position FROM ${entity.table} WHERE _key = ?`;
  const found = prepare(sql).get(key);
  if (found !== undefined) return found as { payload: string; position: number };
  const detail = `there is no row with ${describeKey(entity.primaryKey, key)}`;
  throw new StoreRefusal({ entity: entity.name, kind: 'not_found', key, detail });
};

export const createWriter = ({
  catalog,
  prepare,
  checker,
  positions,
  changes,
  touched,
  numbers,
  freeSpace,
  writeSet,
}: WriterParts): Writer => {
  const reserve = (entity: CatalogEntity, key: string, payload: string): void => {
    if (!freeSpace.take(Buffer.byteLength(key + payload), treesOf(entity))) refuseFull(entity, key);
  };
  const record = (entity: CatalogEntity, position: number, isMoved: () => boolean): void => {
    changes.record(entity, position);
    touched.record(entity, position, isMoved);
  };
  const store = (entity: CatalogEntity, row: Row, key: string, run: () => unknown): void => {
    try {
      run();
    } catch (error) {
      throw translateFailure(error, entity, prepare, row, key);
    }
  };
  const insertInto = (entity: CatalogEntity, row: Row): string => {
    const written = writeSet();
    const key = keyOf(entity, row);
    const after = JSON.stringify(row);
    reserve(entity, key, after);
    const insert = prepare(
      `INSERT INTO ${entity.table} (${entity.position}, _key, payload) VALUES (?, ?, ?)`,
    );
    const position = positions.next(entity);
    store(entity, row, key, () => insert.run(position, key, after));
    record(entity, position, moved);
    written.record({ entity, key, before: undefined, after, position });
    return after;
  };
  return {
    insert(name, row, references = 'at_end') {
      const entity = catalog.entity(name);
      checkRow(checker, entity, row);
      if (references === 'now') {
        checkParentsNow(catalog, prepare, { entity, key: keyOf(entity, row), row, old: undefined });
      }
      return insertInto(entity, row);
    },
    insertChecked: (name, row) => insertInto(catalog.entity(name), row),
    update(name, keyFields, patch, references = 'at_end') {
      const written = writeSet();
      const entity = catalog.entity(name);
      const key = keyOf(entity, keyFields);
      const { payload: before, position } = readRow(prepare, entity, key);
      const old = JSON.parse(before) as Row;
      const row: Row = { ...old, ...patch };
      checkRow(checker, entity, row);
      const newKey = keyOf(entity, row);
      if (references === 'now') {
        checkParentsNow(catalog, prepare, { entity, key: newKey, row, old });
      }
      const after = JSON.stringify(row);
      reserve(entity, newKey, after);
      if (newKey === key) {
        const update = prepare(`UPDATE ${entity.table} SET payload = ? WHERE _key = ?`);
        store(entity, row, key, () => update.run(after, key));
        record(entity, position, () => isMoved(entity, old, row));
        numbers.keep(entity, old, row);
        written.record({ entity, key, before, after, position });
        return after;
      }
      const move = prepare(`UPDATE ${entity.table} SET _key = ?, payload = ? WHERE _key = ?`);
      store(entity, row, newKey, () => move.run(newKey, after, key));
      record(entity, position, moved);
      numbers.keep(entity, old, row);
      written.record({ entity, key, before, after: undefined, position });
      written.record({ entity, key: newKey, before: undefined, after, position });
      return after;
    },
    remove(name, keyFields) {
      const written = writeSet();
      const entity = catalog.entity(name);
      const key = keyOf(entity, keyFields);
      const { payload: before, position } = readRow(prepare, entity, key);
      // Deleting a row of the session's own frees space; deleting a base row copies its pages first.
      const isCopied = touched.isOfBase(entity, position);
      if (isCopied && !freeSpace.take(0, treesOf(entity))) refuseCopy(entity, key);
      prepare(`DELETE FROM ${entity.table} WHERE _key = ?`).run(key);
      record(entity, position, unmoved);
      numbers.keep(entity, JSON.parse(before) as Row, undefined);
      written.record({ entity, key, before, after: undefined, position });
    },
  };
};
