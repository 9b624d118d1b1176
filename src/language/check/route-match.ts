/** Finds requests that no route of a world answers, by their method and path. */
import type { ApiContract, PathPart, PathSegment, RouteContract } from '../contract.ts';
import { partsOf } from '../path-segments.ts';
import { nearestName } from '../read/suggest.ts';

const partPattern = (part: PathPart): string =>
  'literal' in part ? part.literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : '[^/]+';

const segmentPattern = (segment: PathSegment): string =>
  'rest' in segment ? '.+' : partsOf(segment).map(partPattern).join('');

const routePattern = ({ segments }: RouteContract): RegExp =>
  new RegExp(`^${segments.map((segment) => `/${segmentPattern(segment)}`).join('')}/?$`);

/** Returns the path itself, and the path with its prefix removed or its alias replaced by the prefix. */
const meantPaths = (path: string, { prefixes = [], aliases = [] }: ApiContract): string[] => {
  const plain = prefixes
    .filter((prefix) => path === prefix || path.startsWith(`${prefix}/`))
    .map((prefix) => path.slice(prefix.length) || '/');
  const all = [path, ...plain];
  const alias = aliases.find(({ from }) => path === from || path.startsWith(`${from}/`));
  return alias === undefined ? all : [...all, `${alias.to}${path.slice(alias.from.length)}`];
};

/** Replaces the numbers of a path by `{id}`, to compare it with the paths of routes. */
const withArguments = (path: string): string => path.replace(/\/\d+(?=\/|$)/g, '/{id}');

/** Creates a function that returns why no route answers a request; undefined if a route answers it. */
export const createRouteFault = (
  api: ApiContract,
): ((method: string, path: string) => string | undefined) => {
  const patterns = api.routes.map((route) => ({ route, pattern: routePattern(route) }));
  return (method, path) => {
    const paths = meantPaths(path, api);
    const { tokenPath } = api.auth;
    if (tokenPath !== null && paths.includes(tokenPath)) return undefined;
    const found = patterns.filter(({ pattern }) => paths.some((one) => pattern.test(one)));
    const wanted = method === 'HEAD' ? 'GET' : method;
    if (found.some(({ route }) => route.method === wanted)) return undefined;
    if (found.length > 0) {
      const methods = [...new Set(found.map(({ route }) => route.method))].sort().join(', ');
      return `the world has no route ${method} ${path}; the path has routes for ${methods}`;
    }
    const routes = new Set(api.routes.map((route) => route.path));
    const near = nearestName(withArguments(path), routes);
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    return `the world has no route ${method} ${path}${hint}`;
  };
};
