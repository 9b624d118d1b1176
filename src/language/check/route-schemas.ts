/**
 * Schemas that a handler declares for its body and its answer, as names of definitions: those of
 * `schema/world.json` by themselves, those of a sibling after its file, as the contract has them.
 */
import type { JsonSchema, RouteContract } from '../contract.ts';
import type { Place } from '../read/place.ts';
import { suggestName } from '../read/suggest.ts';
import type { Model } from './model.ts';
import type { RouteDraft } from './route-draft.ts';

const listMark = /\[\]$/;

const readName = (place: Place, written: string, model: Model): JsonSchema => {
  // While a schema is refused, nobody knows which definitions there are.
  if (!Object.hasOwn(model.definitions, written) && model.types([]) !== undefined) {
    const hint = suggestName(written, Object.keys(model.definitions));
    const wayOut = 'name a definition of schema/world.json, or <sibling>.json:<name>';
    place.refuse('bad_reference', `there is no definition "${written}"`, hint ?? wayOut);
  }
  return { $ref: `#/$defs/${written}` };
};

const refuseMisplaced = ({ api, apiPlace, table }: RouteDraft): void => {
  for (const key of ['request', 'response'] as const) {
    if (api[key] === undefined || api.action === 'handler') continue;
    const message = `action "${api.action}" has the schemas of its entity, so it has no "${key}"`;
    apiPlace.at(key).refuse('unexpected_key', message);
  }
  if (api.action === 'handler' && api.request !== undefined && table.method === 'GET') {
    apiPlace.at('request').refuse('unexpected_key', 'GET has no body, so it has no "request"');
  }
};

/** What the route declares; members that it does not declare are left out. */
export const readRouteSchemas = (
  draft: RouteDraft,
  model: Model,
): Pick<RouteContract, 'request' | 'response'> => {
  const { api, apiPlace } = draft;
  refuseMisplaced(draft);
  if (api.action !== 'handler') return {};
  const { request, response } = api;
  const answered = response?.replace(listMark, '');
  const item = answered && readName(apiPlace.at('response'), answered, model);
  return {
    ...(request === undefined ? {} : { request: readName(apiPlace.at('request'), request, model) }),
    ...(item ? { response: response === answered ? item : { type: 'array', items: item } } : {}),
  };
};
