/**
 * Inserts rows in the modes `append` and `replace`: in the order of their lines, after the rows of the base or in place
 * of them. Keys are not looked up for each row. The index of the keys, created after the last row, finds all repeated
 * keys at once.
 */
import type { StatementSync } from 'node:sqlite';
import type { RowChecker } from '#language/schema/checkers.ts';
import type { Catalog, CatalogEntity } from '#store/tables/catalog.ts';
import { keyFrom } from '#store/tables/keys.ts';
import { createNumberList, type NumberList } from './arrivals.ts';
import { copyBase, insertSql, type Landing, type LandingParts, lastOfBase } from './landing.ts';
import { keyFault, shapeFault } from './rows.ts';

export type AppendParts = LandingParts & {
  catalog: Catalog;
  checker: RowChecker;
  /**
   * With `replace`: entities whose base rows are removed even if the import has no rows of them; null with `append`.
   */
  replaced: readonly string[] | null;
};

/** A table that receives rows of the import. */
type Table = {
  insert: StatementSync;
  /** Position directly before the table's first row of the import. */
  last: number;
  arrivals: NumberList;
  landed: number;
};

export const createAppend = (parts: AppendParts): Landing => {
  const { catalog, checker, database, sum, treeRows, replaced } = parts;
  const { db, prepare } = database;
  const tables = new Map<string, Table>();
  let taken = 0;

  const leaveBaseOut = (entity: CatalogEntity): void => {
    if (database.base === null) return;
    const rows = db.prepare(`SELECT _key AS key, payload FROM base.${entity.table}`).iterate();
    for (const row of rows as Iterable<unknown> as Iterable<{ key: string; payload: string }>) {
      sum.remove(entity, row.key, row.payload);
    }
  };
  const open = (entity: CatalogEntity): Table => {
    const known = tables.get(entity.name);
    if (known !== undefined) return known;
    if (replaced === null) copyBase(database, entity);
    else leaveBaseOut(entity);
    const table: Table = {
      insert: prepare(insertSql(entity)),
      last: replaced === null ? lastOfBase(database, entity) : 0,
      arrivals: createNumberList(),
      landed: 0,
    };
    tables.set(entity.name, table);
    return table;
  };
  for (const name of replaced ?? []) open(catalog.entity(name));

  return {
    take({ entity, row, payload }, arrival) {
      const fault = shapeFault(entity, row, checker.check(entity.name, row));
      if (fault !== undefined) return fault;
      const key = keyFrom(row, entity.primaryKey);
      if (key === undefined) return keyFault(entity, row);
      const table = tables.get(entity.name) ?? open(entity);
      table.arrivals.push(arrival);
      table.insert.run(table.last + table.arrivals.size(), key, payload);
      table.landed += 1;
      taken += 1;
      sum.add(entity, key, payload);
      return undefined;
    },
    taken: () => taken,
    finish() {
      for (const entity of catalog.entities) {
        if (!tables.has(entity.name)) copyBase(database, entity);
      }
    },
    arrivalsAt({ name }, position) {
      const table = tables.get(name);
      if (table === undefined || position <= table.last) return [];
      return [table.arrivals.at(position - table.last - 1)];
    },
    takeBack: () => undefined,
    landed: ({ name }) => tables.get(name)?.landed ?? 0,
    countOut({ name }, rows) {
      const table = tables.get(name);
      if (table !== undefined) table.landed -= rows;
    },
    isChanged: ({ name }) => tables.has(name),
    isReplaced: ({ name }) => replaced !== null && tables.has(name),
    treeRows: ({ name }) => (replaced !== null && tables.has(name) ? 0 : (treeRows[name] ?? 0)),
  };
};
