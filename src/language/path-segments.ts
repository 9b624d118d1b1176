/**
 * What the segments of a route's path say, for all who name, describe or fill in its arguments. How a
 * path is written is `check/route-path.ts`; how requests find their route is the host's router.
 */
import type { PathPart, PathSegment } from './contract.ts';

/** A segment as its parts; an argument that spans slashes is one part like any other. */
export const partsOf = (segment: PathSegment): readonly PathPart[] =>
  'parts' in segment ? segment.parts : [segment];

/** Names of the path's arguments, from left to right. */
export const pathArguments = (segments: readonly PathSegment[]): string[] =>
  segments.flatMap((segment) =>
    partsOf(segment).flatMap((part) => ('argument' in part ? [part.argument] : [])),
  );

/** The path with something written for each argument, given its place among them. */
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

/** Names of the arguments that may hold slashes: at most one. */
export const restArguments = (segments: readonly PathSegment[]): string[] =>
  segments.flatMap((segment) => ('rest' in segment ? [segment.argument] : []));
