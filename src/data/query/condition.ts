/**
 * Builds the conditions of a query over a store file. They are the store's own conditions. For each field that has an
 * index in a separate file (`field-index.ts`), they also limit the positions of rows to those that the index finds.
 */
import { type Condition, conditionOf, type Filter } from '#store/read/filter.ts';
import type { CatalogEntity } from '#store/tables/catalog.ts';
import type { StoreFile } from './store-file.ts';

const valuesOf = ({ value }: Filter): unknown[] => (Array.isArray(value) ? value : [value]);

/** Returns the table of the index that serves a filter; undefined if there is none. */
export const indexFor = (
  file: StoreFile,
  entity: CatalogEntity,
  filter: Filter,
): string | undefined => {
  const [field = ''] = filter.path;
  const isServed =
    filter.path.length === 1 &&
    filter.match === 'equals' &&
    valuesOf(filter).every((value) => typeof value === 'string' || typeof value === 'number');
  return isServed ? file.indexOf(entity.name, field) : undefined;
};

/** Returns the condition that all filters hold. Throws `StoreRefusal` for a filter that cannot be evaluated. */
export const conditionIn = (
  file: StoreFile,
  entity: CatalogEntity,
  where: readonly Filter[],
): Condition => {
  const { sql, values } = conditionOf(entity, where);
  const narrowed = where.flatMap((filter) => {
    const table = indexFor(file, entity, filter);
    return table === undefined ? [] : [{ table, wanted: JSON.stringify(valuesOf(filter)) }];
  });
  const among = narrowed.map(
    ({ table }) =>
      ` AND ${entity.position} IN (SELECT position FROM ${table} WHERE value IN (SELECT value FROM temp.json_each(?)))`,
  );
  return {
    sql: [...among, sql].join(''),
    values: [...narrowed.map(({ wanted }) => wanted), ...values],
  };
};
