/**
 * Checks pagination: which routes return their rows in pages, and the names of the parameters, keys and headers.
 * Pagination is refused if a client could not reach the next page, because no answer has the cursor.
 */
import type { PageKind, Paging } from '../contract.ts';
import type { ApiTable } from '../files/connector/api.ts';
import type { Place } from '../read/place.ts';
import type { RouteDraft } from './route-draft.ts';

/** Parameters of a request for each kind of pagination. */
const parametersOf = {
  none: [],
  offset: ['limit_param', 'offset_param'],
  cursor: ['limit_param', 'cursor_param'],
} as const satisfies Record<PageKind, readonly (keyof ApiTable)[]>;

/** Refuses two equal names within one answer or one request. */
const refuseSameNames = (
  place: Place,
  named: readonly (readonly [key: string, name: string | undefined])[],
): void => {
  const keys = new Map<string, string>();
  for (const [key, name] of named) {
    if (name === undefined || name === '') continue;
    const other = keys.get(name);
    if (other !== undefined) {
      const message = `${key} and ${other} are both "${name}"`;
      place.at(...key.split('.')).refuse('duplicate', message);
    }
    keys.set(name, other ?? key);
  }
};

/** Returns the names that the world uses for pagination, after checking them against one another. */
export const readPaging = (place: Place, api: ApiTable): Paging => {
  const { cursor, total, previous } = api.page_headers;
  if (api.envelope !== '') {
    refuseSameNames(place, [
      ['envelope', api.envelope],
      ['hits_key', api.hits_key],
      ['cursor_key', api.cursor_key],
      ['previous_key', api.previous_key],
    ]);
  }
  refuseSameNames(place, [
    ['limit_param', api.limit_param],
    ['offset_param', api.offset_param],
  ]);
  refuseSameNames(place, [
    ['limit_param', api.limit_param],
    ['cursor_param', api.cursor_param],
  ]);
  refuseSameNames(place, [
    ['page_headers.cursor', cursor?.toLowerCase()],
    ['page_headers.total', total?.toLowerCase()],
    ['page_headers.previous', previous?.toLowerCase()],
  ]);
  return {
    pageSize: api.page_size,
    limitParam: api.limit_param,
    offsetParam: api.offset_param,
    cursorParam: api.cursor_param,
    hitsKey: api.hits_key,
    cursorKey: api.cursor_key,
    previousKey: api.previous_key ?? null,
    headers: {
      ...(cursor === undefined ? {} : { cursor }),
      ...(total === undefined ? {} : { total }),
      ...(previous === undefined ? {} : { previous }),
    },
    links: api.page_links,
  };
};

const refuseUnturnable = (draft: RouteDraft, kind: PageKind, api: ApiTable): void => {
  const envelope = draft.api.envelope ?? api.envelope;
  if (kind !== 'cursor' || envelope !== '') return;
  if (api.page_headers.cursor !== undefined || api.page_links) return;
  const message = `"${draft.table.name}" answers a list without an envelope, which has no place for the next cursor`;
  const hint = 'set an envelope, page_headers.cursor or page_links';
  draft.apiPlace.at('page').refuse('bad_paging', message, hint);
};

const refuseTakenParameters = (draft: RouteDraft, kind: PageKind, api: ApiTable): void => {
  for (const key of parametersOf[kind]) {
    const name = api[key];
    if (draft.pathArguments.includes(name)) {
      const message = `"${name}" is both an argument of the path and the ${key} of pagination`;
      draft.place.at('path').refuse('duplicate', message);
    } else if (draft.api.filter.has(name)) {
      const message = `"${name}" is both a filter and the ${key} of pagination`;
      draft.apiPlace.at('filter', name).refuse('duplicate', message);
    }
  }
};

/** Returns the pagination of a route. A route that does not return a list of rows has no pagination. */
export const readPage = (draft: RouteDraft, api: ApiTable): PageKind => {
  if (draft.apiPlace.at('action').isRefused()) return 'none';
  const { action, single, page } = draft.api;
  const why =
    action === 'read' ? single && 'answers a single object and no list' : `has action "${action}"`;
  if (why) {
    if (page !== undefined && page !== 'none') {
      const message = `"${draft.table.name}" ${why}, so it has no pages`;
      draft.apiPlace.at('page').refuse('unexpected_key', message);
    }
    return 'none';
  }
  const kind = page ?? api.page ?? 'none';
  refuseUnturnable(draft, kind, api);
  refuseTakenParameters(draft, kind, api);
  return kind;
};
