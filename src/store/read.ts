/**
 * Reading rows. Payload texts go out as they were stored; nothing here parses them. Rows come in the
 * order they were inserted unless a query orders them, and that order also breaks ties.
 */
import type { FieldPath, Row } from '#language/contract.ts';
import type { Catalog, CatalogEntity } from './catalog.ts';
import { conditionOf, type Filter, valueAt } from './filter.ts';
import { keyOf } from './keys.ts';
import type { Statements } from './statements.ts';

export type Query = {
  /** All must hold. */
  where?: readonly Filter[] | undefined;
  /** Whole numbers from 0; no limit means all rows. */
  limit?: number | undefined;
  offset?: number | undefined;
  orderBy?: readonly { path: FieldPath; descending?: boolean | undefined }[] | undefined;
};

export type Reader = {
  get(entity: string, key: Row): string | undefined;
  query(entity: string, query?: Query): string[];
  /** How many rows match. */
  count(entity: string, where?: readonly Filter[]): number;
  /** Rows of every entity. */
  counts(): Record<string, number>;
  /** The largest number at a top-level field; 0 when no row has one. */
  largest(entity: string, field: string): number;
};

const orderOf = (entity: CatalogEntity, orderBy: Query['orderBy']): string =>
  [
    ...(orderBy ?? []).map(
      ({ path, descending }) => `${valueAt(entity, path)}${descending === true ? ' DESC' : ''}`,
    ),
    'rowid',
  ].join(', ');

export const createReader = (catalog: Catalog, prepare: Statements): Reader => {
  const count: Reader['count'] = (name, where = []) => {
    const entity = catalog.entity(name);
    const { sql, values } = conditionOf(entity, where);
    const row = prepare(`SELECT count(*) AS n FROM ${entity.table} WHERE 1${sql}`).get(...values);
    return Number(row?.n);
  };
  return {
    get(name, key) {
      const entity = catalog.entity(name);
      const sql = `SELECT payload FROM ${entity.table} WHERE _key = ?`;
      return prepare(sql).get(keyOf(entity, key))?.payload as string | undefined;
    },
    query(name, { where = [], limit, offset, orderBy } = {}) {
      const entity = catalog.entity(name);
      const { sql, values } = conditionOf(entity, where);
      const text = `SELECT payload FROM ${entity.table} WHERE 1${sql} ORDER BY ${orderOf(entity, orderBy)} LIMIT ? OFFSET ?`;
      const rows = prepare(text).all(...values, limit ?? -1, offset ?? 0);
      return rows.map((row) => row.payload as string);
    },
    count,
    counts: () => Object.fromEntries(catalog.entities.map(({ name }) => [name, count(name)])),
    largest(name, field) {
      const entity = catalog.entity(name);
      const at = valueAt(entity, [field]);
      const row = prepare(`SELECT coalesce(max(${at}), 0) AS n FROM ${entity.table}`).get();
      return typeof row?.n === 'number' ? row.n : 0;
    },
  };
};
