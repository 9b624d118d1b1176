/**
 * Finds the route of a request among those of a contract. Routes are kept as a tree of path segments;
 * a literal segment wins over an argument, from left to right, among the routes that have the method.
 * A slash at the end of a path makes no difference unless routes differ by it.
 */
import type { RouteContract } from '#language/contract.ts';

type Served = {
  route: RouteContract;
  /** Names of the path's arguments with the positions of their segments. */
  positions: readonly (readonly [name: string, index: number])[];
};

type Node = {
  literals: Map<string, Node>;
  argument: Node | undefined;
  routes: Map<string, Served>;
};

export type RouteMatch =
  | { kind: 'route'; route: RouteContract; pathArguments: Record<string, string> }
  | { kind: 'method_not_allowed'; allowed: string[] }
  | { kind: 'unknown' };

export type Router = {
  /** `segments` are those of `splitPath`. A HEAD request is matched as GET. */
  match(method: string, segments: readonly string[]): RouteMatch;
  /** The methods that the path takes, in alphabetical order; none for an unknown path. */
  allowed(segments: readonly string[]): string[];
};

const newNode = (): Node => ({ literals: new Map(), argument: undefined, routes: new Map() });

const decode = (segment: string): string | undefined => {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
};

const addRoute = (root: Node, route: RouteContract): void => {
  let node = root;
  for (const segment of route.segments) {
    if ('literal' in segment) {
      const literal = decode(segment.literal) ?? segment.literal;
      const next = node.literals.get(literal) ?? newNode();
      node.literals.set(literal, next);
      node = next;
    } else {
      node.argument ??= newNode();
      node = node.argument;
    }
  }
  const positions = route.segments.flatMap((segment, index) =>
    'argument' in segment ? [[segment.argument, index] as const] : [],
  );
  node.routes.set(route.method, { route, positions });
};

/** The most specific node of a path that `take` takes something of. */
const findIn = <Found>(
  node: Node | undefined,
  segments: readonly string[],
  take: (node: Node) => Found | undefined,
  index = 0,
): Found | undefined => {
  if (node === undefined) return undefined;
  const segment = segments[index];
  if (segment === undefined) return take(node);
  const literal = findIn(node.literals.get(segment), segments, take, index + 1);
  if (literal !== undefined || segment === '') return literal;
  return findIn(node.argument, segments, take, index + 1);
};

/** The path as it was sent, or with the slash at its end taken off or put on. */
const find = <Found>(
  root: Node,
  segments: readonly string[],
  take: (node: Node) => Found | undefined,
): Found | undefined =>
  findIn(root, segments, take) ??
  findIn(root, segments.at(-1) === '' ? segments.slice(0, -1) : [...segments, ''], take);

const argumentsOf = (
  { positions }: Served,
  segments: readonly string[],
): Record<string, string> => {
  const found: Record<string, string> = {};
  for (const [name, index] of positions) found[name] = segments[index] ?? '';
  return found;
};

/**
 * The segments of a path, decoded, so that an escaped slash divides nothing; a slash at the end leaves
 * an empty one. Undefined when an escape is broken.
 */
export const splitPath = (path: string): string[] | undefined => {
  const segments = path.slice(1).split('/');
  if (!path.includes('%')) return segments;
  const decoded = segments.map(decode);
  return decoded.every((segment) => segment !== undefined) ? decoded : undefined;
};

export const createRouter = (routes: readonly RouteContract[]): Router => {
  const root = newNode();
  for (const route of routes) addRoute(root, route);

  const allowed = (segments: readonly string[]): string[] => {
    const methods = new Set<string>();
    find(root, segments, (node) => {
      for (const method of node.routes.keys()) methods.add(method);
      return undefined; // on to the next node that the path may mean
    });
    if (methods.size === 0) return [];
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods.add('OPTIONS')].sort();
  };

  return {
    allowed,
    match(method, segments) {
      const wanted = method === 'HEAD' ? 'GET' : method;
      const served = find(root, segments, (node) => node.routes.get(wanted));
      if (served !== undefined) {
        const pathArguments = argumentsOf(served, segments);
        return { kind: 'route', route: served.route, pathArguments };
      }
      const methods = allowed(segments);
      return methods.length === 0
        ? { kind: 'unknown' }
        : { kind: 'method_not_allowed', allowed: methods };
    },
  };
};
