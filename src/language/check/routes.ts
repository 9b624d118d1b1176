/**
 * Routes: each served operation of the connector against the data model. An operation is served when
 * it names an entity or has a table `[operations.api]`; another one only says what to capture.
 */
import type { RouteContract } from '../contract.ts';
import { type Connector, type OperationTable, plainOperationApi } from '../files/connector-toml.ts';
import { languageLimits } from '../limits.ts';
import type { Placed } from '../read/kinds.ts';
import type { Place } from '../read/place.ts';
import { readNotFound } from './error-answers.ts';
import { findEntity } from './model.ts';
import { type RouteDraft, type RouteSources, writingActions } from './route-draft.ts';
import { readBody, readDefaults, readFilter, readGenerate } from './route-fields.ts';
import { readRoutePath, routeShape } from './route-path.ts';
import { checkRouteRules } from './route-rules.ts';

const defaultStatus: Record<RouteContract['action'], number> = {
  read: 200,
  create: 201,
  update: 200,
  delete: 204,
  handler: 200,
};

const readParams = (
  place: Place,
  table: OperationTable,
  pathArguments: readonly string[],
): RouteContract['params'] =>
  table.params.map((written, index) => {
    const name = written.replace(/\[\]$/, '');
    if (pathArguments.includes(name)) {
      const message = `"${name}" is both a path argument and a query parameter`;
      place.at('params', index).refuse('duplicate', message);
    }
    return { name, repeated: name !== written };
  });

const toRoute = (
  draft: RouteDraft,
  request: Pick<RouteContract, 'segments' | 'params'>,
  sources: RouteSources,
): RouteContract => {
  const { table, api, entity } = draft;
  const { model } = sources;
  return {
    operation: table.name,
    method: table.method,
    path: table.path,
    ...request,
    entity: entity?.name ?? null,
    action: api.action,
    filter: readFilter(draft, model),
    handler: api.handler ?? null,
    status: api.status ?? defaultStatus[api.action],
    envelope: api.envelope ?? sources.api.envelope,
    single: api.single ?? writingActions.includes(api.action),
    body: readBody(draft, model),
    defaults: readDefaults(draft, sources),
    generate: readGenerate(draft, model),
    notFound: readNotFound(draft, sources.api),
  };
};

const checkOperation = (
  { place, value: table }: Placed<OperationTable>,
  sources: RouteSources,
): RouteContract | undefined => {
  const segments = readRoutePath(place.at('path'), table.path);
  const pathArguments = segments.flatMap((segment) =>
    'argument' in segment ? [segment.argument] : [],
  );
  const params = readParams(place, table, pathArguments);
  const entity =
    table.entity === undefined
      ? undefined
      : findEntity(place.at('entity'), table.entity, sources.model);
  if (table.api === undefined && table.entity === undefined) return undefined;
  const draft: RouteDraft = {
    place,
    table,
    api: table.api ?? plainOperationApi,
    apiPlace: place.at('api'),
    entity,
    argumentNames: new Set([...pathArguments, ...params.map(({ name }) => name)]),
  };
  checkRouteRules(draft, sources);
  return toRoute(draft, { segments, params }, sources);
};

const refuseTwins = (routes: readonly Placed<RouteContract>[]): void => {
  const byShape = new Map<string, string>();
  for (const { place, value: route } of routes) {
    const shape = routeShape(route.method, route.segments);
    const twin = byShape.get(shape);
    if (twin !== undefined && route.segments.length > 0) {
      const message = `"${route.operation}" would answer the same requests as "${twin}": ${route.method} ${route.path}`;
      place.at('path').refuse('duplicate_route', message);
    }
    byShape.set(shape, twin ?? route.operation);
  }
};

const refuseRepeatedNames = (operations: readonly Placed<OperationTable>[]): void => {
  const names = new Set<string>();
  for (const { place, value } of operations) {
    if (value.name !== '' && names.has(value.name)) {
      place.at('name').refuse('duplicate', `there are two operations named "${value.name}"`);
    }
    names.add(value.name);
  }
};

/** The routes of a connector, in the file's order. */
export const checkRoutes = (
  { operations, place }: Connector,
  sources: RouteSources,
): RouteContract[] => {
  if (operations.length > languageLimits.operations) {
    const message = `there are ${operations.length} operations, more than ${languageLimits.operations}`;
    place.at('operations').refuse('too_many', message);
  }
  refuseRepeatedNames(operations);
  const routes = operations.flatMap((operation) => {
    const route = checkOperation(operation, sources);
    return route === undefined ? [] : [{ place: operation.place, value: route }];
  });
  refuseTwins(routes);
  return routes.map(({ value }) => value);
};
