/**
 * Finds the route of a request. Routes form a tree of path segments. Of the routes that match path and method, the most
 * specific one wins, compared segment by segment from left to right. A literal segment is the most specific, followed
 * by a segment that mixes text and arguments, an argument, and an argument that spans slashes. An argument that spans
 * slashes matches as few segments as it can. A trailing slash is ignored unless two routes differ only by it.
 *
 * A search visits each node at most once, however long the path is. This matters because routes and paths come from
 * untrusted users, and the search runs on the host's event loop.
 */
import type { PathSegment, RouteContract } from '#language/contract.ts';
import { pathArguments } from '#language/path-segments.ts';
import { type SegmentPattern, segmentPattern } from './segment-pattern.ts';

type Served = {
  route: RouteContract;
  /** Names of the path's arguments, from left to right. */
  names: readonly string[];
};

type Node = {
  literals: Map<string, Node>;
  /** Patterns, the most specific first. */
  patterns: { pattern: SegmentPattern; node: Node }[];
  argument: Node | undefined;
  /** Nodes after an argument that spans slashes, by the number of segments that follow it; the largest number first. */
  rests: { length: number; node: Node }[];
  routes: Map<string, Served>;
};

export type RouteMatch =
  | { kind: 'route'; route: RouteContract; pathArguments: Record<string, string> }
  | { kind: 'method_not_allowed'; allowed: string[] }
  | { kind: 'unknown' };

export type Router = {
  /** Returns the route for a method and the segments from `splitPath`. HEAD is matched as GET. */
  match(method: string, segments: readonly string[]): RouteMatch;
  /**
   * Returns the methods of the most specific route with the path, in alphabetical order; an empty list for an unknown
   * path.
   */
  allowed(segments: readonly string[]): string[];
};

const newNode = (): Node => ({
  literals: new Map(),
  patterns: [],
  argument: undefined,
  rests: [],
  routes: new Map(),
});

const decode = (segment: string): string | undefined => {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
};

const decodeText = (text: string): string => decode(text) ?? text;

const patternNode = ({ patterns }: Node, pattern: SegmentPattern): Node => {
  const known = patterns.find(({ pattern: { shape } }) => shape === pattern.shape);
  if (known !== undefined) return known.node;
  const node = newNode();
  patterns.push({ pattern, node });
  patterns.sort((a, b) => b.pattern.textLength - a.pattern.textLength);
  return node;
};

const literalNode = ({ literals }: Node, text: string): Node => {
  const node = literals.get(text) ?? newNode();
  literals.set(text, node);
  return node;
};

/**
 * Returns the node after an argument that spans slashes, creating it if missing. There is one node for each number of
 * following segments, since that number decides how much of a path the argument spans.
 */
const restNode = ({ rests }: Node, length: number): Node => {
  const known = rests.find((rest) => rest.length === length);
  if (known !== undefined) return known.node;
  const node = newNode();
  rests.push({ length, node });
  rests.sort((a, b) => b.length - a.length);
  return node;
};

/**
 * Returns the node that a segment leads to, creating it if missing. `left` is the number of segments after this one.
 */
const nodeAfter = (node: Node, segment: PathSegment, left: number): Node => {
  if ('literal' in segment) return literalNode(node, decodeText(segment.literal));
  if ('parts' in segment) return patternNode(node, segmentPattern(segment.parts, decodeText));
  if ('rest' in segment) return restNode(node, left);
  node.argument ??= newNode();
  return node.argument;
};

const addRoute = (root: Node, route: RouteContract): void => {
  const { segments } = route;
  const after = (node: Node, segment: PathSegment, index: number): Node =>
    nodeAfter(node, segment, segments.length - index - 1);
  const node = segments.reduce(after, root);
  node.routes.set(route.method, { route, names: pathArguments(segments) });
};

/** Value found at a node, with the values of the path's arguments. */
type Found<Value> = { value: Value; values: readonly string[] };

type Search<Value> = {
  segments: readonly string[];
  take(node: Node): Value | undefined;
};

const findByPattern = <Value>(
  { patterns }: Node,
  search: Search<Value>,
  index: number,
  values: readonly string[],
): Found<Value> | undefined => {
  for (const { pattern, node } of patterns) {
    const read = pattern.read(search.segments[index] ?? '');
    if (read === undefined) continue;
    const found = findIn(node, search, index + 1, [...values, ...read]);
    if (found !== undefined) return found;
  }
  return undefined;
};

const findByArgument = <Value>(
  { argument }: Node,
  search: Search<Value>,
  index: number,
  values: readonly string[],
): Found<Value> | undefined =>
  argument === undefined
    ? undefined
    : findIn(argument, search, index + 1, [...values, search.segments[index] ?? '']);

const findByRest = <Value>(
  { rests }: Node,
  search: Search<Value>,
  index: number,
  values: readonly string[],
): Found<Value> | undefined => {
  const { segments } = search;
  for (const { length, node } of rests) {
    const end = segments.length - length;
    if (end <= index || segments[end - 1] === '') continue;
    // The text is joined only once a route is found, because paths may be long.
    const found = findIn(node, search, end, []);
    if (found === undefined) continue;
    const text = segments.slice(index, end).join('/');
    return { value: found.value, values: [...values, text, ...found.values] };
  }
  return undefined;
};

/** Returns the value of the most specific node for which `take` returns a value. */
const findIn = <Value>(
  node: Node | undefined,
  search: Search<Value>,
  index = 0,
  values: readonly string[] = [],
): Found<Value> | undefined => {
  if (node === undefined) return undefined;
  const segment = search.segments[index];
  if (segment === undefined) {
    const value = search.take(node);
    return value === undefined ? undefined : { value, values };
  }
  const literal = findIn(node.literals.get(segment), search, index + 1, values);
  if (literal !== undefined || segment === '') return literal;
  return (
    findByPattern(node, search, index, values) ??
    findByArgument(node, search, index, values) ??
    findByRest(node, search, index, values)
  );
};

/** Returns the path without its trailing slash, or with a trailing slash if it has none. */
const otherwise = (segments: readonly string[]): readonly string[] =>
  segments.at(-1) === '' ? segments.slice(0, -1) : [...segments, ''];

/** Returns the methods of the most specific node that has any; an empty list if there is none. */
const methodsAt = (root: Node, segments: readonly string[]): string[] => {
  const take = ({ routes }: Node) => (routes.size === 0 ? undefined : [...routes.keys()]);
  return findIn(root, { segments, take })?.value ?? [];
};

const namedValues = (
  names: readonly string[],
  values: readonly string[],
): Record<string, string> => {
  const named: Record<string, string> = {};
  for (const [index, name] of names.entries()) named[name] = values[index] ?? '';
  return named;
};

/**
 * Splits a path into decoded segments, so that an escaped slash does not separate segments. A trailing slash yields an
 * empty last segment. Returns undefined if an escape is malformed.
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
    const methods = new Set(
      [segments, otherwise(segments)].flatMap((path) => methodsAt(root, path)),
    );
    if (methods.size === 0) return [];
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods.add('OPTIONS')].sort();
  };

  return {
    allowed,
    match(method, segments) {
      const wanted = method === 'HEAD' ? 'GET' : method;
      const take = ({ routes: byMethod }: Node) => byMethod.get(wanted);
      const served =
        findIn(root, { segments, take }) ?? findIn(root, { segments: otherwise(segments), take });
      if (served !== undefined) {
        const { route, names } = served.value;
        return { kind: 'route', route, pathArguments: namedValues(names, served.values) };
      }
      const methods = allowed(segments);
      return methods.length === 0
        ? { kind: 'unknown' }
        : { kind: 'method_not_allowed', allowed: methods };
    },
  };
};
