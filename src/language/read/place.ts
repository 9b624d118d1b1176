/**
 * Places in the files of a tree, and the list of problems found there. A check is given the place of
 * what it looks at and refuses it there; it never throws, and it goes on, so that all problems of a
 * tree are reported together.
 */
import { languageLimits } from '../limits.ts';
import { type Problem, sortProblems } from '../problem.ts';
import type { ProblemCode } from './codes.ts';
import { escapeSegment } from './pointer.ts';

/** Finds the line of a JSON pointer's place in a file, from 1. */
export type FindLine = (pointer: string) => number | undefined;

export type Place = {
  readonly file: string;
  /** JSON pointer into the file's document. */
  readonly pointer: string;
  /** The place of a part, by its keys and positions. */
  at(...segments: (string | number)[]): Place;
  /** Notes a problem here. */
  refuse(code: ProblemCode, message: string, hint?: string): void;
};

export type Problems = {
  add(problem: Problem): void;
  count(): number;
  /** Whether a problem lies in a file, at or below one of the pointers. */
  anyBelow(file: (path: string) => boolean, pointers: readonly string[]): boolean;
  /** In reading order; past the limit only how many more there are. */
  list(): Problem[];
};

export const createProblems = (): Problems => {
  const problems: Problem[] = [];
  const refused = new Set<string>();
  let more = 0;
  /** Shapes that several entities share are looked at again, and a refused key is not also missing. */
  const isKnown = ({ file, pointer, code, message }: Problem): boolean => {
    const place = `${file}\n${pointer}`;
    if (code === 'missing_key' && refused.has(place)) return true;
    if (refused.has(`${place}\n${code}\n${message}`)) return true;
    refused.add(place).add(`${place}\n${code}\n${message}`);
    return false;
  };
  return {
    add(problem) {
      if (isKnown(problem)) return;
      if (problems.length < languageLimits.problems) problems.push(problem);
      else more += 1;
    },
    count: () => problems.length + more,
    anyBelow: (isFile, pointers) =>
      problems.some(
        ({ file, pointer }) =>
          isFile(file) && pointers.some((above) => `${pointer}/`.startsWith(`${above}/`)),
      ),
    list() {
      const sorted = sortProblems(problems);
      if (more === 0) return sorted;
      const message = `there are ${more} more problems, not listed`;
      return [...sorted, { file: '', pointer: '', code: 'more_problems', message }];
    },
  };
};

/** The root of a file, or of a part of it. */
export const createPlace = (
  problems: Problems,
  file: string,
  findLine: FindLine = () => undefined,
  pointer = '',
): Place => ({
  file,
  pointer,
  at(...segments) {
    const inner = segments.map((segment) => `/${escapeSegment(segment)}`).join('');
    return createPlace(problems, file, findLine, pointer + inner);
  },
  refuse(code, message, hint) {
    const line = findLine(pointer);
    problems.add({
      file,
      pointer,
      code,
      message,
      ...(hint === undefined ? {} : { hint }),
      ...(line === undefined ? {} : { line }),
    });
  },
});

/** The same place, refusing nothing: for defaults of what was already refused as a whole. */
export const silent = (place: Place): Place => ({
  ...place,
  at: (...segments) => silent(place.at(...segments)),
  refuse: () => undefined,
});
