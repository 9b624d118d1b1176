/** Pages of lists: from 1, with a default size, and the envelope's `meta`. */
import { limits } from '#domain/limits.ts';

export type PageQuery = { page?: number; limit?: number };

/** Where a page begins and how long it is. */
export const toRange = ({ page = 1, limit = limits.pageDefault }: PageQuery) => ({
  limit,
  offset: (page - 1) * limit,
});

/** The envelope's `meta` of a page. */
export const toMeta = (
  { page = 1, limit = limits.pageDefault }: PageQuery,
  totalItems: number,
) => ({ page, limit, totalItems, totalPages: Math.ceil(totalItems / limit) });
