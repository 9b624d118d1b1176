/**
 * `where` of a query as conditions of the store: each field, or path to one, with the value that it must
 * have or a list of values, any of which will do. With a redaction policy the values are plaintexts, and what
 * is looked for is what the policy made of them.
 */

import { redactLookup } from '#language/capture/redact.ts';
import type { RedactPolicy, Row } from '#language/contract.ts';
import { type Filter, filtersOfWhere } from '#store/read/filter.ts';

/** What is looked for in place of a plaintext; nothing at all where the field is dropped. */
const resolveFilter = (policy: RedactPolicy, filter: Filter): Filter => {
  const found = redactLookup(policy, filter.path, filter.value);
  return { ...filter, value: found === undefined ? [] : found.value };
};

/** The conditions that rows must meet. `resolve` is the policy of the rows, where values are plaintexts. */
export const readWhere = (where: Row, resolve: RedactPolicy | null): Filter[] => {
  const filters = filtersOfWhere(where);
  return resolve === null ? filters : filters.map((filter) => resolveFilter(resolve, filter));
};
