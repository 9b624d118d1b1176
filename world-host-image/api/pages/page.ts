/**
 * Cuts one page out of a route's rows, and finds where the neighbouring pages begin. The name of a page is the value of
 * the parameter that requests it: an offset or a cursor. Facts that the answer does not contain are not queried.
 */
import type { ApiContract, RouteContract } from '#language/contract.ts';
import type { Filter } from '#store/read/filter.ts';
import type { WorldStore } from '#store/world-store.ts';
import { endPosition, writeCursor } from './cursor.ts';
import type { PageRequest } from './page-request.ts';

/** Facts about a page that an answer contains besides the rows. */
export type Wanted = { total: boolean; previous: boolean; last: boolean };

export type Page = {
  /** Payload texts of the rows. */
  rows: string[];
  /** Number of rows on all pages; undefined if the answer does not contain it. */
  total: number | undefined;
  /** Offset or cursor of the next page; null if there is none, or if the answer does not contain it. */
  next: string | null;
  previous: string | null;
  last: string | null;
};

export type PageParts = {
  api: ApiContract;
  route: RouteContract;
  store: Pick<WorldStore, 'list' | 'count'>;
  entity: string;
  where: readonly Filter[];
  request: PageRequest;
  wanted: Wanted;
};

/** Returns the offset of the last page that a client reaches by paging forward from the current page. */
const lastOffset = (total: number, { limit, offset }: PageRequest): number => {
  const beyond = Math.max(0, total - 1 - (offset % limit));
  return (offset % limit) + Math.floor(beyond / limit) * limit;
};

const cutByOffset = ({ store, entity, where, request, wanted }: PageParts): Page => {
  const { limit, offset } = request;
  const { rows, more } = store.list(entity, { where, limit, offset });
  // Reaching the last row yields the total without a query, unless the page begins beyond the end.
  const isEnd = !more && (rows.length > 0 || offset === 0);
  const count = () => (isEnd ? offset + rows.length : store.count(entity, where));
  const total = wanted.total || wanted.last ? count() : undefined;
  return {
    rows,
    total,
    next: more ? String(offset + limit) : null,
    previous: offset > 0 ? String(Math.max(0, offset - limit)) : null,
    last: total === undefined ? null : String(lastOffset(total, request)),
  };
};

const cutByCursor = ({ route, store, entity, where, request, wanted }: PageParts): Page => {
  const { limit, anchor } = request;
  const isBack = anchor?.side === 'before';
  const bound = anchor === null ? {} : { [anchor.side]: anchor.position };
  const { rows, first, last, more } = store.list(entity, { where, limit, ...bound });
  // An empty page stays at the position of its cursor, because rows may still be inserted on either side.
  const end = last ?? Math.max(0, (anchor?.position ?? 0) - (isBack ? 1 : 0));
  const start = first ?? end + 1;
  const hasRows = (side: { after: number } | { before: number }): boolean =>
    store.list(entity, { where, limit: 0, ...side }).more;
  const hasNext = isBack ? hasRows({ after: end }) : more;
  const hasPrevious = isBack
    ? more
    : anchor !== null && wanted.previous && hasRows({ before: start });
  const isAll = anchor === null && !more;
  const count = () => (isAll ? rows.length : store.count(entity, where));
  const cursor = (side: 'after' | 'before', position: number) =>
    writeCursor(route.operation, { side, position });
  return {
    rows,
    total: wanted.total ? count() : undefined,
    next: hasNext ? cursor('after', end) : null,
    previous: hasPrevious ? cursor('before', start) : null,
    last: wanted.last ? cursor('before', endPosition) : null,
  };
};

/** Cuts the requested page. */
export const cutPage = (parts: PageParts): Page =>
  parts.route.page === 'cursor' ? cutByCursor(parts) : cutByOffset(parts);
