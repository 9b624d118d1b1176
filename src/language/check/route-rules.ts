/** Checks which keys of `[operations.api]` each action requires and allows. */
import { suggestName } from '../read/suggest.ts';
import { type RouteDraft, type RouteSources, writingActions } from './route-draft.ts';

const checkHandler = ({ api, apiPlace }: RouteDraft, sources: RouteSources): void => {
  const place = apiPlace.at('handler');
  const { action, handler } = api;
  if (action === 'handler' && handler === undefined) {
    place.refuse('missing_key', 'the action "handler" requires the key "handler"');
  } else if (action !== 'handler' && handler !== undefined) {
    const message = `the action "${action}" does not use the key "handler"`;
    place.refuse('unexpected_key', message, 'set action = "handler"');
  } else if (handler !== undefined && sources.handlers?.has(handler) === false) {
    const hint = suggestName(handler, sources.handlers);
    const message = `${sources.api.handlers} has no function "${handler}"`;
    place.refuse('unknown_function', message, hint);
  }
};

const checkFilter = ({ api, apiPlace }: RouteDraft): void => {
  if ((api.action === 'update' || api.action === 'delete') && api.filter.size === 0) {
    const message = `the action "${api.action}" requires a filter that selects the rows`;
    apiPlace.at('filter').refuse('missing_key', message);
  }
  for (const name of api.match.keys()) {
    if (api.filter.has(name)) continue;
    const hint = suggestName(name, api.filter.keys());
    const at = apiPlace.at('match', name).ofKey();
    at.refuse('unknown_argument', `"${name}" is not an argument of the filter`, hint);
  }
};

const checkWrites = ({ api, apiPlace }: RouteDraft): void => {
  if (writingActions.includes(api.action)) return;
  for (const key of ['body', 'defaults', 'generate'] as const) {
    if (api[key].size === 0) continue;
    const message = `the action "${api.action}" writes no row, so it does not use "${key}"`;
    apiPlace.at(key).refuse('unexpected_key', message);
  }
};

/** Refuses an operation without an entity, unless it has a handler; every other action needs an entity. */
const checkEntity = ({ place, table, api }: RouteDraft): void => {
  if (table.entity !== undefined || (api.action === 'handler' && api.filter.size === 0)) return;
  const message = `the operation "${table.name}" is served and requires the key "entity"`;
  place.at('entity').refuse('missing_key', message);
};

/** Refuses an operation that lacks keys that its action needs, or that has keys that its action does not use. */
export const checkRouteRules = (draft: RouteDraft, sources: RouteSources): void => {
  if (draft.apiPlace.at('action').isRefused()) return;
  checkEntity(draft);
  checkFilter(draft);
  checkWrites(draft);
  checkHandler(draft, sources);
};
