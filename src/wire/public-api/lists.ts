/** Schemas that lists of the public API share: paging parameters, and the `meta` of a page. */

import { limits } from '#domain/limits.ts';
import { type TSchema, Type } from '../type.ts';

export const ListMeta = Type.Object({
  page: Type.Integer(),
  limit: Type.Integer(),
  totalItems: Type.Integer(),
  totalPages: Type.Integer(),
  totalItemsIsLowerBound: Type.Optional(
    Type.Literal(true, {
      description: 'true: the true total may be higher than `totalItems`; counting stopped there',
    }),
  ),
  nextCursor: Type.Optional(
    Type.String({
      description: 'cursor for the next page; absent on the last page',
    }),
  ),
});

export const PageQuery = {
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'from 1' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageMax })),
};

/** Query of lists that have paging parameters only. */
export const PageOnly = Type.Object(PageQuery, { additionalProperties: false });

/** Builds the schema of an answer that is one page of a list. */
export const pageOf = <Item extends TSchema>(item: Item) =>
  Type.Object({ data: Type.Array(item), meta: ListMeta });

/**
 * Parameters of lists that may be very long. A cursor points to the end of a page, so that the next page continues
 * there even if rows are inserted meanwhile.
 */
export const CursorQuery = {
  ...PageQuery,
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      description: '`meta.nextCursor` of the previous page, in place of `page`',
    }),
  ),
};
