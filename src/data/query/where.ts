/**
 * `where` of a query as conditions of the store: each field, or path to one, with the value that it must
 * have or a list of values, any of which will do. With a redaction policy the values are plaintexts, and what
 * is looked for is what the policy made of them.
 */

import { fieldPolicy, redactLookup } from '#language/capture/redact.ts';
import type { RedactPolicy, Row } from '#language/contract.ts';
import { conditionOf, type Filter, filtersOfWhere } from '#store/read/filter.ts';
import { StoreRefusal } from '#store/refusal.ts';
import type { CatalogEntity } from '#store/tables/catalog.ts';

/** What is looked for in place of a plaintext; nothing at all where the field is dropped. */
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

/** A field that is dropped need not be one of the entity: whoever looks for it finds nothing, and is not refused. */
const missDropped = (policy: RedactPolicy, entity: CatalogEntity, filter: Filter): Filter => {
  const isDropped = fieldPolicy(policy, filter.path)?.mode === 'drop';
  return isDropped && isRefused(entity, filter)
    ? { path: entity.primaryKey.slice(0, 1), match: 'equals', value: [] }
    : filter;
};

export type HowRead = {
  entity: CatalogEntity;
  policy: RedactPolicy | null;
  /** Values are plaintexts, which the policy maps. */
  resolve: boolean;
};

/** The conditions that rows of an entity must meet. */
export const readWhere = (where: Row, { entity, policy, resolve }: HowRead): Filter[] => {
  const filters = filtersOfWhere(where);
  if (policy === null) return filters;
  return filters
    .map((filter) => (resolve ? resolveFilter(policy, filter) : filter))
    .map((filter) => missDropped(policy, entity, filter));
};
