/**
 * Translates filters into SQL conditions over one entity's table. Values are always bound, never spliced; paths become
 * column names or JSON paths, so that their indexes are used.
 *
 * - `equals`: same JSON value, types included: the text "5" is not the number 5. null matches a field that is null or
 *   absent.
 * - `contains`: the text holds the value; a field that is a list has it as an item.
 * - `prefix`: the text begins with the value. `contains` and `prefix` ignore the case of ASCII letters.
 *
 * Checks of tasks also compare: `ne`, `lt`, `lte`, `gt`, `gte`, `matches`, `exists`.
 *
 * A list as value matches any of its items, an empty one nothing. A path that no row can have is refused. So are more
 * conditions and texts than can be searched in each row of a large table.
 */

import { type Operator, readCondition } from '#language/comparison.ts';
import type { FieldPath, FilterMatch, Row } from '#language/contract.ts';
import { readFieldPath } from '#language/field-path.ts';
import { judgePattern } from '#language/schema/patterns.ts';
import { jsonPath, quoteName, quoteText } from '#language/sql/ddl.ts';
import { StoreRefusal } from '../refusal.ts';
import type { CatalogEntity } from '../tables/catalog.ts';

/** Kind of match: a kind for filters of routes, or one of the further kinds for checks of tasks. */
export type Match = FilterMatch | 'ne' | 'lt' | 'lte' | 'gt' | 'gte' | 'matches' | 'exists';

export type Filter = { path: FieldPath; match: Match; value: unknown };

/** Converts fields, or paths to them, each with its required value or a list of values, into filters. */
export const filtersOfWhere = (where: Row): Filter[] =>
  Object.entries(where).map(([path, value]) => ({
    path: readFieldPath(path),
    match: 'equals',
    value,
  }));

const matchOf = (operator: Operator): Match =>
  operator === 'eq' || operator === 'in' ? 'equals' : operator;

/**
 * Converts fields, or paths to them, each with a value, a list of values or comparisons, into filters. Throws
 * `StoreRefusal` for a condition that cannot be evaluated.
 */
export const filtersOfConditions = (entity: string, where: Row): Filter[] =>
  Object.entries(where).flatMap(([written, wanted]) => {
    const path = readFieldPath(written);
    const read = readCondition(wanted);
    if ('fault' in read) {
      const [field] = path;
      const detail = `"${written}": ${read.fault}`;
      throw new StoreRefusal({ entity, kind: 'shape', field, detail });
    }
    return read.map(({ operator, operand }) => ({
      path,
      match: matchOf(operator),
      value: operand,
    }));
  });

export type Condition = { sql: string; values: (string | number)[] };

type Scalar = string | number | boolean | null;

/**
 * SQLite's function for the items of a list. It is qualified by `temp`, which has no tables, so that an entity with the
 * name of the function cannot hide it.
 */
const listItems = 'temp.json_each';

/** Maximum number of conditions of one query, and of texts that one condition searches for. */
const mostFilters = 100;
const mostTexts = 100;

const nothing: Condition = { sql: '0', values: [] };

const refusePath = (entity: CatalogEntity, path: FieldPath, detail: string): never => {
  const [field] = path;
  throw new StoreRefusal({ entity: entity.name, kind: 'shape', field, detail });
};

/** Returns the path as an SQL literal. Refuses a path that no row of the entity can have. */
const pathLiteral = (entity: CatalogEntity, path: FieldPath): string => {
  const fault = entity.checkPath(path);
  return fault === undefined ? quoteText(jsonPath(path)) : refusePath(entity, path, fault);
};

/** Returns SQL for the value at a path: a generated column if there is one, else an expression on the payload. */
export const valueAt = (entity: CatalogEntity, path: FieldPath): string => {
  const [field] = path;
  if (path.length === 1 && field !== undefined && entity.columns.has(field)) {
    return quoteName(field);
  }
  return `json_extract(payload, ${pathLiteral(entity, path)})`;
};

const scalarsOf = (entity: CatalogEntity, { path, value }: Filter): Scalar[] =>
  (Array.isArray(value) ? value : [value]).map((item: unknown) => {
    if (item === null || ['string', 'number', 'boolean'].includes(typeof item)) {
      return item as Scalar;
    }
    return refusePath(
      entity,
      path,
      `"${path.join('.')}" can be compared only with a scalar or a list of scalars`,
    );
  });

/**
 * Returns true if a value may be compared with a column. A column's affinity would make the comparison inexact: it
 * turns the number 5 into the text '5.0'.
 */
const fitsColumn = (entity: CatalogEntity, path: FieldPath, value: string | number): boolean => {
  const type = path.length === 1 ? entity.columns.get(path[0] ?? '') : undefined;
  return type === undefined || (type === 'TEXT') === (typeof value === 'string');
};

/**
 * Returns true if a value may be bound to a statement. Binding would change a text with an unpaired surrogate; within
 * JSON the text stays as it is.
 */
const canBind = (value: string | number): boolean =>
  typeof value === 'number' || value.isWellFormed();

const anyOf = (conditions: Condition[]): Condition => {
  if (conditions.length === 0) return nothing;
  const sql = conditions.map((condition) => condition.sql).join(' OR ');
  return { sql: `(${sql})`, values: conditions.flatMap((condition) => condition.values) };
};

const equals = (entity: CatalogEntity, filter: Filter): Condition => {
  const wanted = scalarsOf(entity, filter);
  const at = valueAt(entity, filter.path);
  const conditions: Condition[] = [];
  const plain = wanted
    .filter((value) => typeof value === 'string' || typeof value === 'number')
    .filter((value) => fitsColumn(entity, filter.path, value));
  const [only] = plain;
  if (plain.length === 1 && only !== undefined && canBind(only)) {
    conditions.push({ sql: `${at} = ?`, values: [only] });
  } else if (plain.length > 0) {
    const sql = `${at} IN (SELECT value FROM ${listItems}(?))`;
    conditions.push({ sql, values: [JSON.stringify(plain)] });
  }
  for (const value of new Set(wanted.filter((item) => typeof item === 'boolean'))) {
    const sql = `json_type(payload, ${pathLiteral(entity, filter.path)}) = '${value}'`;
    conditions.push({ sql, values: [] });
  }
  if (wanted.includes(null)) conditions.push({ sql: `${at} IS NULL`, values: [] });
  return anyOf(conditions);
};

/** Converts to lower case as SQLite's `lower` does. */
export const lowerAscii = (text: string): string =>
  text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());

const textMatches = (entity: CatalogEntity, filter: Filter): Condition => {
  const texts = scalarsOf(entity, filter).map((value) => lowerAscii(String(value)));
  if (texts.length > mostTexts) {
    const name = filter.path.join('.');
    refusePath(entity, filter.path, `"${name}" can be matched with ${mostTexts} texts at most`);
  }
  const path = pathLiteral(entity, filter.path);
  const found = filter.match === 'prefix' ? '= 1' : '> 0';
  // The limit keeps SQLite from extracting the text from its row again for each wanted text.
  const inText = `EXISTS (SELECT 1
    FROM (SELECT lower(json_extract(payload, ${path})) AS text LIMIT 1) AS held, ${listItems}(?) AS wanted
    WHERE instr(held.text, wanted.value) ${found})`;
  const inList = `EXISTS (SELECT 1 FROM ${listItems}(payload, ${path}) AS item
    WHERE lower(item.value) IN (SELECT value FROM ${listItems}(?)))`;
  const wanted = JSON.stringify(texts);
  return {
    sql: `CASE json_type(payload, ${path}) WHEN 'array' THEN ${inList} ELSE ${inText} END`,
    values: [wanted, wanted],
  };
};

const signs = { lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;

/**
 * Compares numbers with numbers, and texts with texts by their characters. A value of any other type is neither less
 * nor greater.
 */
const compares = (entity: CatalogEntity, { path, match, value }: Filter): Condition => {
  const sign = signs[match as keyof typeof signs];
  const kinds = typeof value === 'string' ? "'text'" : "'integer', 'real'";
  if ((typeof value !== 'string' && typeof value !== 'number') || !canBind(value)) return nothing;
  const sql = `(json_type(payload, ${pathLiteral(entity, path)}) IN (${kinds})
    AND json_extract(payload, ${pathLiteral(entity, path)}) ${sign} ?)`;
  return { sql, values: [value] };
};

/** Matches texts in which a regular expression is found; values of other types do not match. */
const matches = (entity: CatalogEntity, { path, value }: Filter): Condition => {
  const fault = typeof value === 'string' ? judgePattern(value).fault : 'it is no text';
  if (fault !== undefined) refusePath(entity, path, `"${path.join('.')}" matches: ${fault}`);
  const at = pathLiteral(entity, path);
  // The type is tested first, so that no other value is ever converted to a text.
  const sql = `CASE json_type(payload, ${at}) WHEN 'text'
    THEN svc_matches(?, json_extract(payload, ${at})) ELSE 0 END = 1`;
  return { sql, values: [value as string] };
};

/** Tests whether a field exists; a field that is null counts as absent. */
const exists = (entity: CatalogEntity, { path, value }: Filter): Condition => ({
  sql: `(coalesce(json_type(payload, ${pathLiteral(entity, path)}), 'null') ${value === true ? '<>' : '='} 'null')`,
  values: [],
});

/** Tests whether a field differs from a value; a field that is absent differs from every value. */
const differs = (entity: CatalogEntity, filter: Filter): Condition => {
  const { sql, values } = equals(entity, filter);
  return { sql: `NOT coalesce(${sql}, 0)`, values };
};

const matchers: Record<Match, (entity: CatalogEntity, filter: Filter) => Condition> = {
  equals,
  contains: textMatches,
  prefix: textMatches,
  ne: differs,
  lt: compares,
  lte: compares,
  gt: compares,
  gte: compares,
  matches,
  exists,
};

/** Returns the condition that all filters hold. Throws `StoreRefusal` for a filter that cannot be evaluated. */
export const conditionOf = (entity: CatalogEntity, filters: readonly Filter[]): Condition => {
  const [first] = filters;
  if (first !== undefined && filters.length > mostFilters) {
    const detail = `a query may have ${mostFilters} conditions, this one has ${filters.length}`;
    refusePath(entity, first.path, detail);
  }
  const conditions = filters.map((filter) => matchers[filter.match](entity, filter));
  return {
    sql: conditions.map(({ sql }) => ` AND ${sql}`).join(''),
    values: conditions.flatMap(({ values }) => values),
  };
};
