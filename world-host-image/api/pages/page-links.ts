/**
 * Builds links to other pages: absolute URLs of the host as the client called it, with the request's query except for
 * the paging parameter.
 */
import type { ApiContract, RouteContract } from '#language/contract.ts';
import { calledAt } from '../requests/mount.ts';
import type { Page } from './page.ts';

/** Request as its client sent it, without its credential, which links must not contain. */
export type LinkBase = {
  /** Headers with names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Path without the query. */
  path: string;
  query: URLSearchParams;
  /** Path below the origin at which the client finds the API; absent if the API is at the origin itself. */
  mountedAt?: string;
};

/** Returns a function that builds the URL of the page with an offset or cursor; null means the first page. */
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
 * Returns the `Link` header: `prev` and `first` unless this is the first page, `next` and `last` unless it is the
 * last. Undefined when there is only one page.
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
