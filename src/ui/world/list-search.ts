/** Parses the search parameters of a list's address, which may contain anything. */
import type { Row } from './model.ts';

/** Order, search and conditions of a list; `form` is set while the user enters a new row. */
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
  // The router parses a search for digits as a number.
  ...(search === undefined || search === '' ? {} : { search: String(search) }),
  ...(isRecord(where) && Object.keys(where).length > 0 ? { where } : {}),
  ...(form === 'new' ? { form } : {}),
});
