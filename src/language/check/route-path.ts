/** The path of a route: literal segments and arguments, each argument a segment of its own. */
import type { RouteContract } from '../contract.ts';
import { isInherited } from '../read/names.ts';
import type { Place } from '../read/place.ts';

type Segments = RouteContract['segments'];

const segmentFault = (segment: string, isLast: boolean): string | undefined => {
  if (segment === '' && !isLast) return 'has an empty segment';
  if (segment === '.' || segment === '..') return `has the segment "${segment}"`;
  if (/^\{[A-Za-z_]\w*\}$/.test(segment)) {
    const name = segment.slice(1, -1);
    return isInherited(name) ? `has an argument named "${name}"` : undefined;
  }
  return /[{}]/.test(segment)
    ? `has the segment "${segment}"; an argument is a whole segment, {name}`
    : undefined;
};

const maxPathLength = 1_000;

const pathFault = (path: string): string | undefined => {
  if (path.length > maxPathLength) return `is longer than ${maxPathLength} characters`;
  if (!path.startsWith('/')) return 'must begin with "/"';
  if (/[?#\s]/.test(path)) return 'must have no query, fragment or space';
  const parts = path.slice(1).split('/');
  for (const [index, part] of parts.entries()) {
    const fault = segmentFault(part, index === parts.length - 1);
    if (fault !== undefined) return fault;
  }
  const names = parts.filter((part) => part.startsWith('{'));
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return repeated === undefined ? undefined : `names ${repeated} twice`;
};

/** The segments of a path; none when it is refused. */
export const readRoutePath = (place: Place, path: string): Segments => {
  const fault = pathFault(path);
  if (fault !== undefined) {
    place.refuse('bad_value', `the path ${JSON.stringify(path.slice(0, 200))} ${fault}`);
    return [];
  }
  return path
    .slice(1)
    .split('/')
    .map((part) => (part.startsWith('{') ? { argument: part.slice(1, -1) } : { literal: part }));
};

/** Equal for routes that would answer the same requests. */
export const routeShape = (method: string, segments: Segments): string =>
  `${method} ${segments.map((segment) => ('literal' in segment ? `/${segment.literal}` : '/{}')).join('')}`;
