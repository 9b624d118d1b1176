/** Checks the HTTP API of a world: its routes, errors, pagination, and handlers module. */
import { leftOutFolder } from '#domain/tree-path.ts';
import type { ApiContract, RouteContract } from '../contract.ts';
import { parseFieldPath } from '../field-path.ts';
import { pathBeginningPattern } from '../files/connector/api.ts';
import type { Connector } from '../files/connector-toml.ts';
import { declaredFunctions } from '../read/functions.ts';
import { suggestName } from '../read/suggest.ts';
import type { Tree } from '../read/tree.ts';
import { checkAuth } from './auth.ts';
import { readErrorAnswers } from './error-answers.ts';
import { readFaults } from './faults.ts';
import type { Model } from './model.ts';
import { readPaging } from './paging.ts';
import { readRateLimits } from './rate-limits.ts';
import type { OperationDraft } from './route-draft.ts';
import { checkRoutes } from './routes.ts';
import type { FieldValues } from './values.ts';

type ApiSources = {
  tree: Tree;
  model: Model;
  values: FieldValues;
  operations: readonly OperationDraft[];
};

/** Returns the functions of the handlers module. If any route uses a function, the module must exist. */
const readHandlers = (
  tree: Tree,
  { api, operations, place }: Connector,
): ReadonlySet<string> | undefined => {
  const leftOut = leftOutFolder(api.handlers);
  if (leftOut !== undefined) {
    const message = `${api.handlers} is in the folder "${leftOut}", which is never part of a world`;
    place.at('api', 'handlers').refuse('bad_value', message, 'move it, for example to api/');
    return undefined;
  }
  const source = tree.text(api.handlers);
  if (source !== undefined) return declaredFunctions(api.handlers, source);
  const hasHandler = operations.some(({ value }) => value.api?.handler !== undefined);
  if ((hasHandler || api.before !== undefined) && !tree.has(api.handlers)) {
    const users = hasHandler ? 'routes have handlers' : '"before" names a function';
    const message = `${users}, but ${api.handlers} is not in the tree`;
    place.at('api', 'handlers').refuse('missing_file', message);
  }
  return undefined;
};

const checkBefore = (
  { api, place }: Connector,
  handlers: ReadonlySet<string> | undefined,
): string | null => {
  if (api.before === undefined) return null;
  if (handlers?.has(api.before) === false) {
    const message = `${api.handlers} has no function "${api.before}"`;
    const hint = suggestName(api.before, handlers);
    place.at('api', 'before').refuse('unknown_function', message, hint);
  }
  return api.before;
};

/** Returns the path prefixes of the API, the longest first, because a prefix may begin with another prefix. */
const readPrefixes = (
  { api, place }: Connector,
  routes: readonly RouteContract[],
  tokenPath: string | null,
): Pick<ApiContract, 'prefixes'> => {
  const paths = [...routes.map(({ path }) => path), ...(tokenPath === null ? [] : [tokenPath])];
  for (const [index, prefix] of api.prefixes.entries()) {
    const hidden = paths.find((path) => path === prefix || path.startsWith(`${prefix}/`));
    if (hidden === undefined) continue;
    const message = `the path ${hidden} begins with the prefix ${prefix}, so no request would reach that route`;
    place.at('api', 'prefixes', index).refuse('bad_value', message);
  }
  const prefixes = [...api.prefixes].sort((a, b) => b.length - a.length);
  return prefixes.length === 0 ? {} : { prefixes };
};

/** Returns the aliases of prefixes, the longest first. A prefix that is an alias cannot have routes of its own. */
const readAliases = (
  { api, place }: Connector,
  routes: readonly RouteContract[],
  tokenPath: string | null,
): Pick<ApiContract, 'aliases'> => {
  const paths = [...routes.map(({ path }) => path), ...(tokenPath === null ? [] : [tokenPath])];
  const refuse = (from: string, message: string): void =>
    place.at('api', 'aliases', from).refuse('bad_value', message);
  const isBelow = (path: string, start: string): boolean =>
    path === start || path.startsWith(`${start}/`);
  for (const [from, to] of api.aliases) {
    const hidden = paths.find((path) => isBelow(path, from));
    if (!pathBeginningPattern.test(from)) {
      refuse(from, 'a prefix of paths must begin with "/" and must not end with "/"');
    } else if (hidden !== undefined) {
      refuse(
        from,
        `the path ${hidden} begins with the alias ${from}, so no request would reach that route`,
      );
    } else if (!paths.some((path) => isBelow(path, to))) {
      refuse(from, `no path of a route begins with ${to}`);
    }
  }
  const aliases = [...api.aliases]
    .map(([from, to]) => ({ from, to }))
    .sort((a, b) => b.from.length - a.from.length);
  return aliases.length === 0 ? {} : { aliases };
};

/** Returns the media types of answers, and the status of the answer to a request whose `Accept` has none of them. */
const readMediaTypes = (
  { api }: Connector,
  routes: readonly RouteContract[],
): Pick<ApiContract, 'mediaTypes' | 'notAcceptableStatus'> => {
  const isUsed = api.media_types !== undefined || routes.some((route) => route.mediaTypes);
  return {
    ...(api.media_types === undefined ? {} : { mediaTypes: api.media_types }),
    ...(isUsed ? { notAcceptableStatus: api.not_acceptable_status } : {}),
  };
};

const checkLastModified = ({ api, place }: Connector): void => {
  const { last_modified: written } = api;
  if (written === undefined || parseFieldPath(written) !== undefined) return;
  const message = `${JSON.stringify(written.slice(0, 200))} is not a path of fields`;
  place.at('api', 'last_modified').refuse('bad_value', message, 'write a.b.c or /a/b/c');
};

export const checkApi = (
  connector: Connector,
  { tree, model, values, operations }: ApiSources,
): ApiContract => {
  const { api, place } = connector;
  checkLastModified(connector);
  const handlers = readHandlers(tree, connector);
  const auth = checkAuth(connector);
  const before = checkBefore(connector, handlers);
  const routes = checkRoutes(operations, auth.tokenPath, { model, values, api, handlers });
  const isUsed = before !== null || routes.some(({ handler }) => handler !== null);
  const rateLimits = readRateLimits(place.at('api'), api.rate_limits, routes);
  const errorContentType = api.error_content_type;
  const faulted = { routes, ...rateLimits, errorContentType };
  const faults = readFaults(place.at('api', 'faults'), api.faults, faulted);
  return {
    auth,
    routes,
    ...readMediaTypes(connector, routes),
    ...readPrefixes(connector, routes, auth.tokenPath),
    ...readAliases(connector, routes, auth.tokenPath),
    ...readErrorAnswers(place.at('api'), api),
    errorContentType,
    handlers: isUsed ? api.handlers : null,
    ...(api.check_requests ? {} : { uncheckedRequests: true }),
    before,
    ...rateLimits,
    ...(faults.rules.length === 0 ? {} : { faults }),
    paging: readPaging(place.at('api'), api),
  };
};
