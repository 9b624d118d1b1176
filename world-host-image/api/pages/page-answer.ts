/**
 * Builds the paging information of an answer: members of the envelope, headers, and links. With `page_links`, the next
 * and the previous page are given as URLs everywhere. Without it, they are given as cursors; pages by offset have no
 * cursors and state only the total.
 */
import type { ApiContract, RouteContract } from '#language/contract.ts';
import type { PageWords } from '../answers/answer.ts';
import type { Page, Wanted } from './page.ts';
import { type LinkBase, linkHeader, pageLinker } from './page-links.ts';

type Served = { api: ApiContract; route: RouteContract };

/** Returns which facts about a page a route's answers contain. */
export const wantedBy = ({ api: { paging }, route }: Served, hasLinks: boolean): Wanted => {
  const hasEnvelope = route.envelope !== '';
  return {
    total: (hasEnvelope && paging.hitsKey !== '') || paging.headers.total !== undefined,
    previous:
      (hasEnvelope && paging.previousKey !== null) ||
      paging.headers.previous !== undefined ||
      hasLinks,
    last: hasLinks,
  };
};

const keysOf = (
  { api: { paging }, route }: Served,
  { next, previous }: { next: string | null; previous: string | null },
): PageWords['keys'] => {
  const { cursorKey, previousKey } = paging;
  const keys: PageWords['keys'] = [];
  if (next !== null || !route.cursorAbsentWhenDone) keys.push([cursorKey, JSON.stringify(next)]);
  if (previousKey !== null) keys.push([previousKey, JSON.stringify(previous)]);
  return keys;
};

/**
 * Returns the paging members and headers of a page. `base` is absent for a tool that is bound to the route, because it
 * has no request that links could be built from.
 */
export const pageWords = (served: Served, page: Page, base: LinkBase | undefined): PageWords => {
  const { api, route } = served;
  const { headers: names, links } = api.paging;
  const headers: Record<string, string> = {};
  if (names.total !== undefined) headers[names.total] = String(page.total);
  const linkTo = links && base !== undefined ? pageLinker(base, route, api) : undefined;
  if (linkTo === undefined && route.page === 'offset') return { keys: [], headers };
  const [next, previous] = [page.next, page.previous].map((start) =>
    start === null || linkTo === undefined ? start : linkTo(start),
  ) as [string | null, string | null];
  if (names.cursor !== undefined && next !== null) headers[names.cursor] = next;
  if (names.previous !== undefined && previous !== null) headers[names.previous] = previous;
  const link = linkTo === undefined ? undefined : linkHeader(page, linkTo);
  if (link !== undefined) headers.link = link;
  return { keys: keysOf(served, { next, previous }), headers };
};
