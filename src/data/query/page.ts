/**
 * Finds a page of an entity's rows, as their stored texts. It also returns how many rows match in all, as far as that
 * is known without reading more rows than the page needs.
 *
 * Rows are in the order of insertion. A page ends at its limit of rows or of bytes. Its result includes the start of
 * the next page, so that the client need not compute it.
 */

import type { Filter } from '#store/read/filter.ts';
import type { CatalogEntity } from '#store/tables/catalog.ts';
import { conditionIn, indexFor } from './condition.ts';
import type { StoreFile } from './store-file.ts';

export type PageRequest = {
  entity: string;
  where: readonly Filter[];
  /**
   * Maximum number of rows on the page, from 1; and number of matching rows before the page, from 0. Both are whole
   * numbers.
   */
  limit: number;
  offset: number;
  /**
   * Position of the last row before the page, if a previous page returned it. Rows up to this position are not read.
   */
  after?: number | undefined;
  /** Maximum size of the page's rows in bytes; the first row is returned whatever its size. */
  mostBytes: number;
};

export type PageFound = {
  /** Payload texts of the page's rows. */
  rows: string[];
  total: number;
  /** True if more rows may match than `total`. */
  isLowerBound: boolean;
  /** Offset of the next page; null after the last row. */
  nextOffset: number | null;
  /** Position of the last row, after which the next page continues. */
  nextAfter: number | null;
};

/** Maximum number of matches that are counted. */
const mostCounted = 10_000;

const namesOf = (entity: CatalogEntity): string[] =>
  [entity.primaryKey, ...entity.references.map(({ fields }) => fields)].flatMap(
    ([first]) => first ?? [],
  );

/** Returns true if an index begins with the path, so that matches are found without reading other rows. */
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

/** Counts the matching rows, up to one more than `mostCounted`. */
const countSome = (file: StoreFile, name: string, where: readonly Filter[]) => {
  const { catalog, prepare } = file;
  const entity = catalog.entity(name);
  const { sql, values } = conditionIn(file, entity, where);
  const some = `SELECT 1 FROM ${entity.table} WHERE 1${sql} LIMIT ${mostCounted + 1}`;
  return Number(prepare(`SELECT count(*) AS n FROM (${some})`).get(...values)?.n);
};

/** Start of the rows to read: after the position `after`, if given, and then with `offset` rows skipped. */
type Stretch = { after?: number | undefined; offset: number };

/** Reads rows up to the limit of rows or bytes; `more` is true if the limit left out a row. */
const readRows = (
  file: StoreFile,
  { entity: name, where, limit, mostBytes }: PageRequest,
  { after, offset }: Stretch,
): { rows: string[]; more: boolean; last: number | null } => {
  const { catalog, prepare } = file;
  const entity = catalog.entity(name);
  const { sql, values } = conditionIn(file, entity, where);
  const since = after === undefined ? '' : ` AND ${entity.position} > ?`;
  // Written as sums, since SQLite plans the whole statement anew for each value that is bound to a bare limit.
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

/**
 * Returns the start of an unfiltered page. If positions have no gaps, the start is a position, so that no rows have to
 * be skipped one by one.
 */
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
 * Finds a page. `rowCount` is the number of rows of the entity, which the version knows. Throws `StoreRefusal` for an
 * unknown entity or field, and for values that cannot be searched.
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
