/** The HTTP side of a world: its routes, its errors, and the module of their handlers. */
import type { ApiContract } from '../contract.ts';
import type { Connector } from '../files/connector-toml.ts';
import { declaredFunctions } from '../read/functions.ts';
import type { Tree } from '../read/tree.ts';
import { checkAuth } from './auth.ts';
import { readErrorAnswers } from './error-answers.ts';
import type { Model } from './model.ts';
import { checkRoutes } from './routes.ts';
import type { FieldValues } from './values.ts';

/** The functions of the handlers module, which must be there when a route uses it. */
const readHandlers = (
  tree: Tree,
  { api, operations, place }: Connector,
): ReadonlySet<string> | undefined => {
  const source = tree.text(api.handlers);
  if (source !== undefined) return declaredFunctions(api.handlers, source);
  const isUsed = operations.some(({ value }) => value.api?.handler !== undefined);
  if (isUsed && !tree.has(api.handlers)) {
    const message = `routes have handlers, but ${api.handlers} is not in the tree`;
    place.at('api', 'handlers').refuse('missing_file', message);
  }
  return undefined;
};

export const checkApi = (
  tree: Tree,
  connector: Connector,
  model: Model,
  values: FieldValues,
): ApiContract => {
  const { api, place } = connector;
  const handlers = readHandlers(tree, connector);
  const routes = checkRoutes(connector, { model, values, api, handlers });
  return {
    auth: checkAuth(connector.auth),
    routes,
    ...readErrorAnswers(place.at('api'), api),
    errorContentType: api.error_content_type,
    handlers: routes.some(({ handler }) => handler !== null) ? api.handlers : null,
  };
};
