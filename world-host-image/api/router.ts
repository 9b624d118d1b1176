/**
 * Finds the route of a request among those of a contract. Routes are kept as a tree of path segments;
 * a literal segment wins over an argument, from left to right, among the routes that have the method.
 */
import type { RouteContract } from '#language/contract.ts';

type Node = {
  literals: Map<string, Node>;
  argument: Node | undefined;
  routes: Map<string, RouteContract>;
};

export type RouteMatch =
  | { kind: 'route'; route: RouteContract; pathArguments: Record<string, string> }
  | { kind: 'method_not_allowed'; allowed: string[] }
  | { kind: 'unknown' };

export type Router = {
  /** `segments` are the decoded parts of the path. A HEAD request is matched as GET. */
  match(method: string, segments: readonly string[]): RouteMatch;
};

const newNode = (): Node => ({ literals: new Map(), argument: undefined, routes: new Map() });

const addRoute = (root: Node, route: RouteContract): void => {
  let node = root;
  for (const segment of route.segments) {
    if ('literal' in segment) {
      const next = node.literals.get(segment.literal) ?? newNode();
      node.literals.set(segment.literal, next);
      node = next;
    } else {
      node.argument ??= newNode();
      node = node.argument;
    }
  }
  node.routes.set(route.method, route);
};

/** The nodes that a path leads to, the most specific first. */
const findNodes = (node: Node | undefined, segments: readonly string[], index = 0): Node[] => {
  if (node === undefined) return [];
  const segment = segments[index];
  if (segment === undefined) return node.routes.size > 0 ? [node] : [];
  const literal = findNodes(node.literals.get(segment), segments, index + 1);
  const argument = segment === '' ? [] : findNodes(node.argument, segments, index + 1);
  return [...literal, ...argument];
};

const argumentsOf = (route: RouteContract, segments: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    route.segments.flatMap((segment, index) =>
      'argument' in segment ? [[segment.argument, segments[index] ?? '']] : [],
    ),
  );

/** The segments of a path, decoded; undefined when an escape is broken. */
export const splitPath = (path: string): string[] | undefined => {
  const parts = path.replace(/^\//, '').replace(/\/$/, '').split('/');
  try {
    return parts.length === 1 && parts[0] === '' ? [] : parts.map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
};

export const createRouter = (routes: readonly RouteContract[]): Router => {
  const root = newNode();
  for (const route of routes) addRoute(root, route);
  return {
    match(method, segments) {
      const wanted = method === 'HEAD' ? 'GET' : method;
      const nodes = findNodes(root, segments);
      for (const node of nodes) {
        const route = node.routes.get(wanted);
        if (route) return { kind: 'route', route, pathArguments: argumentsOf(route, segments) };
      }
      if (nodes.length === 0) return { kind: 'unknown' };
      const methods = new Set(nodes.flatMap((node) => [...node.routes.keys()]));
      if (methods.has('GET')) methods.add('HEAD');
      return { kind: 'method_not_allowed', allowed: [...methods].sort() };
    },
  };
};
