/**
 * Reads rows. Payload texts are returned as they were stored; nothing here parses them. Rows are in the order of
 * insertion unless a query orders them, and that order also breaks ties.
 */
import type { FieldPath, Row } from '#language/contract.ts';
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';
import { keyOf } from '../tables/keys.ts';
import type { Statements } from '../tables/statements.ts';
import { conditionOf, type Filter, valueAt } from './filter.ts';
import type { Orders } from './orders.ts';

export type Query = {
  /** Filters, all of which must hold. */
  where?: readonly Filter[] | undefined;
  /** Whole numbers from 0; without a limit, all rows are returned. */
  limit?: number | undefined;
  offset?: number | undefined;
  orderBy?: readonly { path: FieldPath; descending?: boolean | undefined }[] | undefined;
  /**
   * Maximum size of the result in bytes: the result ends with the last row that fits. The first row is returned
   * whatever its size.
   */
  mostBytes?: number | undefined;
};

/** A range of an entity's rows in the order of insertion. */
export type ListQuery = {
  /** Filters, all of which must hold. */
  where?: readonly Filter[] | undefined;
  /** Only rows after this position. */
  after?: number | undefined;
  /** Only rows before this position; the result then has the last `limit` of these rows. */
  before?: number | undefined;
  /** Whole numbers from 0. */
  limit: number;
  offset?: number | undefined;
};

export type RowList = {
  /** Payload texts of the rows. */
  rows: string[];
  /** Positions of the first and the last row of the result; undefined if the result has no rows. */
  first: number | undefined;
  last: number | undefined;
  /**
   * True if further rows match beyond the limit: after the last row of the result, or with `before`, ahead of the first
   * row.
   */
  more: boolean;
};

export type Reader = {
  get(entity: string, key: Row): string | undefined;
  query(entity: string, query?: Query): string[];
  /** Lists rows by position. Inserts and deletes move no other row, and a position is never reused. */
  list(entity: string, query: ListQuery): RowList;
  /** Returns how many rows match. */
  count(entity: string, where?: readonly Filter[]): number;
};

const orderOf = (entity: CatalogEntity, orderBy: Query['orderBy']): string =>
  [
    ...(orderBy ?? []).map(
      ({ path, descending }) => `${valueAt(entity, path)}${descending === true ? ' DESC' : ''}`,
    ),
    entity.position,
  ].join(', ');

/**
 * Limit and offset of a query. They are written as sums, because SQLite plans the whole statement anew for each value
 * that is bound to a bare limit.
 */
const rowWindow = 'LIMIT ? + 0 OFFSET ? + 0';

/** Reads rows as arrays, which takes half the time of reading them as objects. */
const readArrays = (
  prepare: Statements,
  text: string,
  values: readonly (string | number)[],
): unknown[][] => {
  const statement = prepare(text);
  statement.setReturnArrays(true);
  return statement.all(...values) as unknown as unknown[][];
};

/** Reads the first column of the rows until the values have `mostBytes` bytes; later rows are not read. */
const readUntilFull = (
  prepare: Statements,
  text: string,
  values: readonly (string | number)[],
  mostBytes: number,
): string[] => {
  const statement = prepare(text);
  statement.setReturnArrays(true);
  const read: string[] = [];
  let bytes = 0;
  for (const [payload] of statement.iterate(...values) as Iterable<unknown> as Iterable<[string]>) {
    bytes += Buffer.byteLength(payload);
    if (bytes > mostBytes && read.length > 0) break;
    read.push(payload);
  }
  return read;
};

const listRows = (
  entity: CatalogEntity,
  prepare: Statements,
  { where = [], after, before, limit, offset = 0 }: ListQuery,
): RowList => {
  const { sql, values } = conditionOf(entity, where);
  const at = entity.position;
  const since = after === undefined ? '' : ` AND ${at} > ?`;
  const until = before === undefined ? '' : ` AND ${at} < ?`;
  const order = before === undefined ? at : `${at} DESC`;
  const text = `SELECT payload, ${at} FROM ${entity.table} WHERE 1${sql}${since}${until} ORDER BY ${order} ${rowWindow}`;
  const bounds = [after, before].filter((bound) => bound !== undefined);
  const found = readArrays(prepare, text, [...values, ...bounds, limit + 1, offset]);
  const more = found.length > limit;
  if (more) found.pop();
  if (before !== undefined) found.reverse();
  return {
    rows: found.map(([payload]) => payload as string),
    first: found[0]?.[1] as number | undefined,
    last: found.at(-1)?.[1] as number | undefined,
    more,
  };
};

/**
 * Creates a reader. `orders` is a cache for rows that may change, with which rows are not sorted anew for each page.
 */
export const createReader = (catalog: Catalog, prepare: Statements, orders?: Orders): Reader => {
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
    query(name, { where = [], limit, offset, orderBy, mostBytes } = {}) {
      const entity = catalog.entity(name);
      const { sql, values } = conditionOf(entity, where);
      const tail = `WHERE 1${sql} ORDER BY ${orderOf(entity, orderBy)}`;
      if (orderBy?.length && limit !== undefined && mostBytes === undefined) {
        const page = orders?.page({ entity, tail, values }, limit, offset ?? 0);
        if (page !== undefined) return page;
      }
      const text = `SELECT payload FROM ${entity.table} ${tail} ${rowWindow}`;
      const bound = [...values, limit ?? -1, offset ?? 0];
      if (mostBytes !== undefined) return readUntilFull(prepare, text, bound, mostBytes);
      const rows = readArrays(prepare, text, bound);
      return rows.map(([payload]) => payload as string);
    },
    list: (name, query) => listRows(catalog.entity(name), prepare, query),
    count,
  };
};
