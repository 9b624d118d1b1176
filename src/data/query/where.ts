/**
 * Converts `where` of a query to filters of the store: each field, or path to one, with the required value or a list
 * of values, any of which matches. If `resolve` is set, the values are plaintexts, and the search uses what the
 * world's redaction policy makes of them.
 */

import { fieldPolicy, redactLookup } from '#language/capture/redact.ts';
import type { RedactPolicy, Row } from '#language/contract.ts';
import { conditionOf, type Filter, filtersOfWhere } from '#store/read/filter.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { CatalogEntity } from '#store/tables/catalog.ts';

/** Returns the filter for the redacted form of a plaintext; it matches nothing if the field is dropped. */
const resolveFilter = (policy: RedactPolicy, filter: Filter): Filter => {
  const found = redactLookup(policy, filter.path, filter.value);
  return { ...filter, value: found === undefined ? [] : found.value };
};

const isRefused = (entity: CatalogEntity, filter: Filter): boolean => {
  try {
    conditionOf(entity, [filter]);
    return false;
  } catch (error) {
    if (error instanceof StoreRefusal) return true;
    throw error;
  }
};

/**
 * Replaces a filter on a dropped field that the entity lacks by one that matches nothing, so that such a query finds
 * no rows and is not refused.
 */
const missDropped = (policy: RedactPolicy, entity: CatalogEntity, filter: Filter): Filter => {
  const isDropped = fieldPolicy(policy, filter.path)?.mode === 'drop';
  return isDropped && isRefused(entity, filter)
    ? { path: entity.primaryKey.slice(0, 1), match: 'equals', value: [] }
    : filter;
};

export type HowRead = {
  entity: CatalogEntity;
  policy: RedactPolicy | null;
  /** True if values are plaintexts, which the policy redacts. */
  resolve: boolean;
};

/** Returns the filters that rows of an entity must pass. */
export const readWhere = (where: Row, { entity, policy, resolve }: HowRead): Filter[] => {
  const filters = filtersOfWhere(where);
  if (policy === null) return filters;
  return filters
    .map((filter) => (resolve ? resolveFilter(policy, filter) : filter))
    .map((filter) => missDropped(policy, entity, filter));
};
