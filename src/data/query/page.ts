/**
 * A page of an entity's rows, as the texts that they were stored as, with how many match in all as far as
 * that can be told without looking at more than the page had to.
 *
 * Rows come in the order of insertion. A page ends with its limit or when its bytes are full; where the next
 * one begins is told, so that nobody has to reckon.
 */

import type { Filter } from '#store/read/filter.ts';
import type { CatalogEntity } from '#store/tables/catalog.ts';
import { conditionIn, indexFor } from './condition.ts';
import type { StoreFile } from './store-file.ts';

export type PageRequest = {
  entity: string;
  where: readonly Filter[];
  /** Whole numbers, from 1 and from 0. */
  limit: number;
  offset: number;
  /** The position of the row that has `offset` rows up to it, where that is known: nothing before is looked at. */
  after?: number | undefined;
  /** Bytes of rows; the first comes whatever its size. */
  mostBytes: number;
};

export type PageFound = {
  /** Payload texts. */
  rows: string[];
  total: number;
  /** There may be more than `total`. */
  isLowerBound: boolean;
  /** Where the next page begins; null after the last row. */
  nextOffset: number | null;
  /** The position of the last row, from which the next page may go on. */
  nextAfter: number | null;
};

/** Up to so many matches are counted. */
const mostCounted = 10_000;

const namesOf = (entity: CatalogEntity): string[] =>
  [entity.primaryKey, ...entity.references.map(({ fields }) => fields)].flatMap(
    ([first]) => first ?? [],
  );

/** Whether an index begins with the path: matches are then found without looking at others. */
const isIndexed = (file: StoreFile, entity: CatalogEntity, filter: Filter): boolean => {
  if (indexFor(file, entity, filter) !== undefined) return true;
  const { path, value } = filter;
  const written = path.join('.');
  const firsts = entity.unique.flatMap(([first]) => first?.join('.') ?? []);
  const values = Array.isArray(value) ? value : [value];
  return (
    [...namesOf(entity), ...firsts].includes(written) &&
    values.every((one) => typeof one !== 'boolean')
  );
};

/** How many rows match, at most one more than are counted. */
const countSome = (file: StoreFile, name: string, where: readonly Filter[]) => {
  const { catalog, prepare } = file;
  const entity = catalog.entity(name);
  const { sql, values } = conditionIn(file, entity, where);
  const some = `SELECT 1 FROM ${entity.table} WHERE 1${sql} LIMIT ${mostCounted + 1}`;
  return Number(prepare(`SELECT count(*) AS n FROM (${some})`).get(...values)?.n);
};

/** Rows where they begin: after a position, and with so many of them left out. */
type Stretch = { after?: number | undefined; offset: number };

/** Reads rows until there are enough of them or their bytes are; `more` when that left one out. */
const readRows = (
  file: StoreFile,
  { entity: name, where, limit, mostBytes }: PageRequest,
  { after, offset }: Stretch,
): { rows: string[]; more: boolean; last: number | null } => {
  const { catalog, prepare } = file;
  const entity = catalog.entity(name);
  const { sql, values } = conditionIn(file, entity, where);
  const since = after === undefined ? '' : ` AND ${entity.position} > ?`;
  // Sums, since SQLite plans the whole statement anew for each value that is bound to a bare limit.
  const text = `SELECT payload, ${entity.position} FROM ${entity.table} WHERE 1${sql}${since} ORDER BY ${entity.position} LIMIT ? + 0 OFFSET ? + 0`;
  const statement = prepare(text);
  statement.setReturnArrays(true);
  const bound = [...values, ...(after === undefined ? [] : [after]), limit + 1, offset];
  const rows: string[] = [];
  let bytes = 0;
  let last: number | null = null;
  const found = statement.iterate(...bound) as Iterable<unknown> as Iterable<[string, number]>;
  for (const [payload, position] of found) {
    bytes += Buffer.byteLength(payload);
    if (rows.length === limit || (bytes > mostBytes && rows.length > 0))
      return { rows, more: true, last };
    rows.push(payload);
    last = position;
  }
  return { rows, more: false, last };
};

/** Where all rows begin: at a position where positions have no gaps, so that none is stepped over. */
const wholeStretch = (
  { catalog, prepare }: StoreFile,
  { entity: name, offset }: PageRequest,
  rowCount: number,
): Stretch => {
  const { table, position } = catalog.entity(name);
  const edge = (which: 'min' | 'max'): unknown =>
    prepare(`SELECT ${which}(${position}) AS at FROM ${table}`).get()?.at;
  const [first, last] = [edge('min'), edge('max')];
  const isDense =
    typeof first === 'number' && typeof last === 'number' && last - first + 1 === rowCount;
  return isDense ? { after: first + Math.min(offset, rowCount) - 1, offset: 0 } : { offset };
};

/**
 * Finds a page. `rowCount` is how many rows the entity has, which the version knows. Throws `StoreRefusal`
 * for an entity or a field that there is none of, and for values that cannot be looked for.
 */
export const findPage = (file: StoreFile, page: PageRequest, rowCount: number): PageFound => {
  const { entity: name, where, offset, after } = page;
  const entity = file.catalog.entity(name);
  const [condition] = where;
  const isWhole = condition === undefined;
  const stretch = (): Stretch => {
    if (after !== undefined) return { after, offset: 0 };
    return isWhole ? wholeStretch(file, page, rowCount) : { offset };
  };
  const { rows, more, last } = readRows(file, page, stretch());
  const end = offset + rows.length;
  const next = { nextOffset: more ? end : null, nextAfter: more ? last : null };
  if (isWhole) return { rows, total: rowCount, isLowerBound: false, ...next };
  if (!more && (rows.length > 0 || offset === 0)) {
    return { rows, total: end, isLowerBound: false, ...next };
  }
  const known = more ? end + 1 : 0;
  if (where.length > 1 || !isIndexed(file, entity, condition)) {
    return { rows, total: known, isLowerBound: true, ...next };
  }
  const counted = countSome(file, name, where);
  const total = Math.max(Math.min(counted, mostCounted), known);
  return { rows, total, isLowerBound: counted > mostCounted, ...next };
};
