/** Checks routes: each operation that the world serves is checked against the data model. */
import type { JsonSchema, RouteContract } from '../contract.ts';
import { parseFieldPath } from '../field-path.ts';
import type { ApiTable } from '../files/connector/api.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { suggestName } from '../read/suggest.ts';
import { readNotFound } from './error-answers.ts';
import type { Model } from './model.ts';
import { readPage } from './paging.ts';
import {
  type OperationDraft,
  type RouteDraft,
  type RouteSources,
  refuseUnknownArgument,
  toRouteDraft,
  writingActions,
} from './route-draft.ts';
import { readBody, readDefaults, readFilter, readGenerate } from './route-fields.ts';
import { routeShape } from './route-path.ts';
import { checkRouteRules } from './route-rules.ts';

// A handler declares the schemas of its body and its answer as names of definitions. They are the
// names that the contract uses: `<name>` in `schema/world.json`, and `<sibling>.json:<name>` in a sibling file.

const listMark = /\[\]$/;

const readName = (place: Place, written: string, model: Model): JsonSchema => {
  // If a schema was refused, the definitions are unknown.
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
    const message = `the action "${api.action}" uses the schema of its entity, so it does not use "${key}"`;
    apiPlace.at(key).refuse('unexpected_key', message);
  }
  if (api.action === 'handler' && api.request !== undefined && table.method === 'GET') {
    apiPlace
      .at('request')
      .refuse('unexpected_key', 'a GET request has no body, so the route does not use "request"');
  }
};

/** Returns the schemas that the route declares. */
const readRouteSchemas = (
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

const defaultStatus: Record<RouteContract['action'], number> = {
  read: 200,
  create: 201,
  update: 200,
  delete: 204,
  handler: 200,
};

const readSample = (draft: RouteDraft): RouteContract['sample'] => {
  for (const name of draft.api.sample.keys()) {
    refuseUnknownArgument(draft, draft.apiPlace.at('sample', name).ofKey(), name);
  }
  return Object.fromEntries(draft.api.sample);
};

/**
 * Returns, for a GET route, the field with the time of the last change: the field that its operation names, or else the
 * world's default.
 */
const readLastModified = (
  { api, apiPlace, table }: RouteDraft,
  world: ApiTable,
): Pick<RouteContract, 'lastModified'> => {
  const written = api.last_modified ?? world.last_modified;
  if (written === undefined) return {};
  const path = parseFieldPath(written);
  if (path === undefined && api.last_modified !== undefined) {
    const message = `${JSON.stringify(written.slice(0, 200))} is not a path of fields`;
    apiPlace.at('last_modified').refuse('bad_value', message, 'write a.b.c or /a/b/c');
  }
  if (table.method !== 'GET' && api.last_modified !== undefined) {
    const message = `"last_modified" is allowed only for GET, and not for ${table.method}`;
    apiPlace.at('last_modified').refuse('unexpected_key', message);
  }
  return path === undefined || table.method !== 'GET' ? {} : { lastModified: path };
};

/**
 * Returns `keepsAnswer` for a GET handler if its operation, or else the world, allows hosts to cache the handler's
 * answers.
 */
const readKeepAnswers = (
  { api, apiPlace, table }: RouteDraft,
  world: ApiTable,
): Pick<RouteContract, 'keepsAnswer'> => {
  const canKeep = api.action === 'handler' && table.method === 'GET';
  if (!canKeep && api.keep_answers !== undefined) {
    const message =
      'only answers of a handler to GET can be cached, so the route does not use "keep_answers"';
    apiPlace.at('keep_answers').refuse('unexpected_key', message);
  }
  return canKeep && (api.keep_answers ?? world.keep_answers) ? { keepsAnswer: true } : {};
};

type BodyRules = Pick<RouteContract, 'bodyTypes' | 'bodyEncoding'>;

/**
 * Returns the body rules of a handler. Other actions write single members of the body, so they accept only JSON and
 * forms.
 */
const readBodyRules = ({ api, apiPlace, table }: RouteDraft): BodyRules => {
  const { action, body_types: types, body_encoding: encoding } = api;
  if (action !== 'handler' || table.method === 'GET') {
    const what =
      action === 'handler'
        ? 'a GET request has no body'
        : `the action "${action}" parses the body itself`;
    for (const key of ['body_types', 'body_encoding'] as const) {
      if (api[key] === undefined) continue;
      apiPlace.at(key).refuse('unexpected_key', `${what}, so the route does not use "${key}"`);
    }
    return {};
  }
  if (encoding !== undefined && api.request !== undefined) {
    const message =
      'with body_encoding = "base64" the body is not parsed, so it cannot be validated by "request"';
    apiPlace.at('request').refuse('unexpected_key', message);
  }
  const bodyEncoding = encoding === undefined ? {} : { bodyEncoding: encoding };
  if (types === undefined) return bodyEncoding;
  if (types.length === 0) {
    apiPlace
      .at('body_types')
      .refuse(
        'bad_value',
        'the list is empty, so the route would accept no body',
        'leave out "body_types", or list the accepted media types',
      );
    return {};
  }
  return { bodyTypes: types, ...bodyEncoding };
};

const toRoute = (draft: RouteDraft, sources: RouteSources): RouteContract => {
  const { table, api, entity, segments, params } = draft;
  const { model } = sources;
  checkRouteRules(draft, sources);
  const single = api.single ?? writingActions.includes(api.action);
  // The world's envelope is for lists; an object that a handler returns is sent unchanged.
  const isObject = single && api.action === 'handler';
  return {
    operation: table.name,
    method: table.method,
    path: table.path,
    segments,
    params,
    entity: entity?.name ?? null,
    action: api.action,
    filter: readFilter(draft, sources),
    handler: api.handler ?? null,
    ...readRouteSchemas(draft, model),
    status: api.status ?? defaultStatus[api.action],
    envelope: api.envelope ?? (isObject ? '' : sources.api.envelope),
    single,
    body: readBody(draft, model),
    defaults: readDefaults(draft, sources),
    generate: readGenerate(draft, model),
    sample: readSample(draft),
    page: readPage(draft, sources.api),
    cursorAbsentWhenDone: api.cursor_absent_when_done ?? sources.api.cursor_absent_when_done,
    notFound: readNotFound(draft, sources.api),
    ...(api.media_types === undefined ? {} : { mediaTypes: api.media_types }),
    ...readBodyRules(draft),
    ...readLastModified(draft, sources.api),
    ...readKeepAnswers(draft, sources.api),
  };
};

const refuseTwins = (
  routes: readonly Placed<RouteContract>[],
  taken: ReadonlyMap<string, string>,
): void => {
  const byShape = new Map(taken);
  for (const { place, value: route } of routes) {
    const shape = routeShape(route.method, route.segments);
    const twin = byShape.get(shape);
    if (twin !== undefined && route.segments.length > 0) {
      const message = `"${route.operation}" would answer the same requests as ${twin}: ${route.method} ${route.path}`;
      place.at('path').refuse('duplicate_route', message);
    }
    byShape.set(shape, twin ?? `"${route.operation}"`);
  }
};

/** Returns the shape of the route on which the world itself mints tokens, with the name of that route for messages. */
const mintingShape = (tokenPath: string | null): Map<string, string> => {
  if (tokenPath === null) return new Map();
  const segments = tokenPath
    .slice(1)
    .split('/')
    .map((literal) => ({ literal }));
  return new Map([[routeShape('POST', segments), 'the token_path of the world']]);
};

/** Returns the routes among the given operations, in their order. */
export const checkRoutes = (
  operations: readonly OperationDraft[],
  tokenPath: string | null,
  sources: RouteSources,
): RouteContract[] => {
  const routes = operations.flatMap((operation): { place: Place; value: RouteContract }[] => {
    const draft = toRouteDraft(operation);
    return draft === undefined ? [] : [{ place: draft.place, value: toRoute(draft, sources) }];
  });
  refuseTwins(routes, mintingShape(tokenPath));
  return routes.map(({ value }) => value);
};
