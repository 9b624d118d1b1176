/**
 * Helpers for the segments of a route's path: list the arguments, and write the path with other texts in their place.
 * `check/route-path.ts` parses paths; the host's router matches requests.
 */
import type { PathPart, PathSegment } from './contract.ts';

/** Returns the parts of a segment; an argument that spans slashes is one part. */
export const partsOf = (segment: PathSegment): readonly PathPart[] =>
  'parts' in segment ? segment.parts : [segment];

/** Returns the names of the path's arguments, from left to right. */
export const pathArguments = (segments: readonly PathSegment[]): string[] =>
  segments.flatMap((segment) =>
    partsOf(segment).flatMap((part) => ('argument' in part ? [part.argument] : [])),
  );

/** Writes the path with a text in place of each argument. The callback also gets the argument's index. */
export const writePath = (
  segments: readonly PathSegment[],
  argument: (name: string, position: number) => string,
): string => {
  let position = -1;
  const write = (part: PathPart): string => {
    if ('literal' in part) return part.literal;
    position += 1;
    return argument(part.argument, position);
  };
  return segments.map((segment) => `/${partsOf(segment).map(write).join('')}`).join('');
};

/** Returns the names of the arguments whose values may contain slashes; a path has at most one. */
export const restArguments = (segments: readonly PathSegment[]): string[] =>
  segments.flatMap((segment) => ('rest' in segment ? [segment.argument] : []));
