/**
 * Parses the path of a route into literal segments and arguments. An argument is a whole segment (`{id}`), a part of
 * one (`{id}.json`), or spans slashes (`{ref...}`). Ambiguous paths are refused.
 */
import type { PathPart, PathSegment } from '../contract.ts';
import { partsOf, pathArguments, restArguments, writePath } from '../path-segments.ts';
import { isInherited } from '../read/names.ts';
import type { Place } from '../read/place.ts';

const argumentPattern = /\{([A-Za-z_]\w*)\}/;
const restPattern = /^\{([A-Za-z_]\w*)\.\.\.\}$/;

/** Parses a segment that mixes literals and arguments. After `split`, the names of arguments have the odd indexes. */
const readParts = (written: string): PathPart[] =>
  written
    .split(argumentPattern)
    .map((text, index) => (index % 2 === 1 ? { argument: text } : { literal: text }))
    .filter((part) => !('literal' in part) || part.literal !== '');

/** Parses one segment of a path without validating it. */
export const readSegment = (written: string): PathSegment => {
  const [, rest] = restPattern.exec(written) ?? [];
  if (rest !== undefined) return { argument: rest, rest: true };
  const parts = readParts(written);
  const [only = { literal: '' }, ...others] = parts;
  return others.length === 0 ? only : { parts };
};

const partsFault = (written: string, segment: PathSegment): string | undefined => {
  const parts = partsOf(segment);
  if (parts.some((part) => 'literal' in part && /[{}]/.test(part.literal))) {
    return `has the segment "${written}"; an argument is written {name}; or {name...} if it is a whole segment whose value may contain slashes`;
  }
  const touches = parts.some(
    (part, index) => index > 0 && 'argument' in part && 'argument' in (parts[index - 1] ?? {}),
  );
  return touches
    ? `has the segment "${written}", in which it is unclear where an argument ends`
    : undefined;
};

const segmentFault = (written: string, isLast: boolean): string | undefined => {
  if (written === '' && !isLast) return 'has an empty segment';
  if (written === '.' || written === '..') return `has the segment "${written}"`;
  const segment = readSegment(written);
  const inherited = pathArguments([segment]).find(isInherited);
  return inherited === undefined
    ? partsFault(written, segment)
    : `has an argument named "${inherited}"`;
};

/**
 * Returns the fault of an argument that spans slashes: a literal must separate it from the next argument, so that it is
 * clear where the argument ends.
 */
const restFault = (segments: readonly PathSegment[]): string | undefined => {
  const [first, second] = restArguments(segments);
  if (second !== undefined) {
    return `lets the values of {${first}...} and {${second}...} contain slashes; only one argument of a path may`;
  }
  const at = segments.findIndex((segment) => 'rest' in segment);
  const next = at === -1 ? undefined : segments[at + 1];
  return next === undefined || ('literal' in next && next.literal !== '')
    ? undefined
    : `must have a literal segment or nothing after {${first}...}, so that it is clear where the argument ends`;
};

const maxPathLength = 1_000;

const pathFault = (path: string): string | undefined => {
  if (path.length > maxPathLength) return `is longer than ${maxPathLength} characters`;
  if (!path.startsWith('/')) return 'must begin with "/"';
  if (/[?#\s]/.test(path)) return 'must have no query, fragment or space';
  const written = path.slice(1).split('/');
  for (const [index, part] of written.entries()) {
    const fault = segmentFault(part, index === written.length - 1);
    if (fault !== undefined) return fault;
  }
  const segments = written.map(readSegment);
  const names = pathArguments(segments);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return repeated === undefined ? restFault(segments) : `names {${repeated}} twice`;
};

/** Returns the segments of a path; an empty list if the path is refused. */
export const readRoutePath = (place: Place, path: string): PathSegment[] => {
  const fault = pathFault(path);
  if (fault !== undefined) {
    place.refuse('bad_value', `the path ${JSON.stringify(path.slice(0, 200))} ${fault}`);
    return [];
  }
  return path.slice(1).split('/').map(readSegment);
};

/**
 * Returns a key that is equal for routes that would answer the same requests. An argument that spans slashes also
 * matches everything that an ordinary argument in its place would, so both kinds count as equal.
 */
export const routeShape = (method: string, segments: readonly PathSegment[]): string =>
  `${method} ${writePath(segments, () => '{}')}`;
