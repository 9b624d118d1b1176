/**
 * Links to other pages: absolute URLs of the served host as the client called it, with the query of the
 * request but for what pages it.
 */
import type { ApiContract, RouteContract } from '#language/contract.ts';
import { calledAt } from '../requests/mount.ts';
import type { Page } from './page.ts';

/** The request as its client sent it, but for its credential, which belongs in no link. */
export type LinkBase = {
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Without the query. */
  path: string;
  query: URLSearchParams;
  /** Below which path of its origin the client finds the API. */
  mountedAt?: string;
};

/** Makes the URL of the page with this offset or cursor; null is the page from the beginning. */
export const pageLinker = (
  base: LinkBase,
  route: RouteContract,
  api: ApiContract,
): ((start: string | null) => string) => {
  const address = `${calledAt(base) ?? 'http://localhost'}${base.path}`;
  const param = route.page === 'cursor' ? api.paging.cursorParam : api.paging.offsetParam;
  return (start) => {
    const query = new URLSearchParams(base.query);
    if (start === null) query.delete(param);
    else query.set(param, start);
    const text = query.toString();
    return text === '' ? address : `${address}?${text}`;
  };
};

/**
 * The `Link` header: `prev` and `first` unless this is the first page, `next` and `last` unless it is
 * the last. Undefined when there is but one page.
 */
export const linkHeader = (
  { next, previous, last }: Page,
  linkTo: (start: string | null) => string,
): string | undefined => {
  const links: [rel: string, start: string | null][] = [];
  if (previous !== null) links.push(['first', null], ['prev', previous]);
  if (next !== null) links.push(['next', next], ['last', last]);
  if (links.length === 0) return undefined;
  return links.map(([rel, start]) => `<${linkTo(start)}>; rel="${rel}"`).join(', ');
};
