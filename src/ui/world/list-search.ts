/** What an address says of a list of rows, read from the query of the address, where anything may stand. */
import type { Row } from './model.ts';

/** Order, search, conditions, and whether a new row is being entered. */
export type ListSearch = { sort?: string; search?: string; where?: Row; form?: 'new' };

const isRecord = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const readListSearch = ({
  sort,
  search,
  where,
  form,
}: Record<string, unknown>): ListSearch => ({
  ...(typeof sort === 'string' && sort !== '' ? { sort } : {}),
  // A search for a number stands in the address as one.
  ...(search === undefined || search === '' ? {} : { search: String(search) }),
  ...(isRecord(where) && Object.keys(where).length > 0 ? { where } : {}),
  ...(form === 'new' ? { form } : {}),
});
