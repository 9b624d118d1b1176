/**
 * Reading rows. Payload texts go out as they were stored; nothing here parses them. Rows come in the
 * order they were inserted unless a query orders them, and that order also breaks ties.
 */
import type { FieldPath, Row } from '#language/contract.ts';
import type { Catalog, CatalogEntity } from '../tables/catalog.ts';
import { keyOf } from '../tables/keys.ts';
import type { Statements } from '../tables/statements.ts';
import { conditionOf, type Filter, valueAt } from './filter.ts';
import type { Orders } from './orders.ts';

export type Query = {
  /** All must hold. */
  where?: readonly Filter[] | undefined;
  /** Whole numbers from 0; no limit means all rows. */
  limit?: number | undefined;
  offset?: number | undefined;
  orderBy?: readonly { path: FieldPath; descending?: boolean | undefined }[] | undefined;
  /** Ends with the last row that fits into so many bytes of text; the first comes whatever its size. */
  mostBytes?: number | undefined;
};

/** A stretch of an entity's rows in the order of insertion. */
export type ListQuery = {
  /** All must hold. */
  where?: readonly Filter[] | undefined;
  /** Only rows that came after this position. */
  after?: number | undefined;
  /** Only rows that came before this position; `limit` then counts from the last of them. */
  before?: number | undefined;
  /** Whole numbers from 0. */
  limit: number;
  offset?: number | undefined;
};

export type RowList = {
  /** Payload texts. */
  rows: string[];
  /** Positions of the first and the last of them; undefined when there is none. */
  first: number | undefined;
  last: number | undefined;
  /** Whether rows lie beyond the limit: behind the last, or with `before` ahead of the first. */
  more: boolean;
};

export type Reader = {
  get(entity: string, key: Row): string | undefined;
  query(entity: string, query?: Query): string[];
  /** Rows by their positions, which neither inserts nor deletes move, and which are never given again. */
  list(entity: string, query: ListQuery): RowList;
  /** How many rows match. */
  count(entity: string, where?: readonly Filter[]): number;
};

const orderOf = (entity: CatalogEntity, orderBy: Query['orderBy']): string =>
  [
    ...(orderBy ?? []).map(
      ({ path, descending }) => `${valueAt(entity, path)}${descending === true ? ' DESC' : ''}`,
    ),
    entity.position,
  ].join(', ');

/** Sums, since SQLite plans the whole statement anew for each value that is bound to a bare limit. */
const rowWindow = 'LIMIT ? + 0 OFFSET ? + 0';

/** Reading rows as arrays takes half the time of reading them as objects. */
const readArrays = (
  prepare: Statements,
  text: string,
  values: readonly (string | number)[],
): unknown[][] => {
  const statement = prepare(text);
  statement.setReturnArrays(true);
  return statement.all(...values) as unknown as unknown[][];
};

/** The first column of the rows, until there are so many bytes of it; what follows is not read. */
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

/** Makes it. `orders`: of rows that change, so that pages of them are not sorted each by itself. */
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
