/**
 * Places in the files of a tree, and the list of problems found there. A check gets the place of the value that it
 * checks, and reports problems at that place. It never throws, and it continues after a problem, so that all problems
 * of a tree are reported together.
 */

import { clip } from '#domain/cut.ts';
import { escapeSegment } from '#domain/json.ts';
import { languageLimits } from '../limits.ts';
import { type Problem, sortProblems } from '../problem.ts';
import type { ProblemCode } from './codes.ts';
import type { Locate, Spot } from './positions.ts';

export type Place = {
  readonly file: string;
  /** JSON pointer into the document of the file. */
  readonly pointer: string;
  /** Returns the place of a value inside this one, by its keys and indexes. */
  at(...segments: (string | number)[]): Place;
  /** Returns the place of this value's key, for problems of the key's name. */
  ofKey(): Place;
  /** Reports a problem at this place. */
  refuse(code: ProblemCode, message: string, hint?: string): void;
  /** Returns true if the value at this place was refused as a whole, so that a neutral value replaces it. */
  isRefused(): boolean;
};

/** Function that finds a problem's line and column. It is called when the problems are listed. */
type Finder = { locate: Locate; isKey: boolean };

export type Problems = {
  add(problem: Problem, finder?: Finder): void;
  count(): number;
  /** Returns true if a problem is exactly at this place. */
  anyAt(file: string, pointer: string): boolean;
  /** Returns true if a problem is in a file that `file` selects, at or below one of the pointers. */
  anyBelow(file: (path: string) => boolean, pointers: readonly string[]): boolean;
  /**
   * Returns the problems in reading order, with lines and columns. Problems beyond the limit are only counted, and
   * their number is reported.
   */
  list(): Problem[];
};

type Noted = { problem: Problem; finder?: Finder | undefined };

/** Shortens the texts of a problem, because they quote authors' texts, which may be long. */
const shorten = (problem: Problem): Problem => ({
  ...problem,
  pointer: clip(problem.pointer, languageLimits.quotedChars),
  message: clip(problem.message, languageLimits.quotedChars),
});

/** Finds the positions of problems; all problems of a file are looked up together. */
const locateAll = (noted: readonly Noted[]): Problem[] => {
  const located = new Map(noted.map(({ problem }) => [problem, shorten(problem)]));
  const byText = Map.groupBy(noted, ({ finder }) => finder?.locate);
  for (const [locate, group] of byText) {
    if (locate === undefined) continue;
    const spots = group.map(
      ({ problem: { pointer }, finder }): Spot => ({ pointer, isKey: finder?.isKey === true }),
    );
    for (const [index, position] of locate(spots).entries()) {
      const problem = group[index]?.problem;
      if (problem !== undefined) located.set(problem, { ...shorten(problem), ...position });
    }
  }
  return [...located.values()];
};

export const createProblems = (): Problems => {
  const noted: Noted[] = [];
  const refused = new Set<string>();
  let more = 0;
  /**
   * Returns true if a problem need not be reported: the same problem was reported before, because schemas that several
   * entities share are checked repeatedly. A refused key is not also reported as missing, and a missing key has no
   * further problems.
   */
  const isKnown = ({ file, pointer, code, message }: Problem): boolean => {
    const place = `${file}\n${pointer}`;
    if (code === 'missing_key' && refused.has(place)) return true;
    if (refused.has(`${place}\nmissing_key`)) return true;
    if (refused.has(`${place}\n${code}\n${message}`)) return true;
    refused.add(place).add(`${place}\n${code}\n${message}`);
    if (code === 'missing_key') refused.add(`${place}\n${code}`);
    return false;
  };
  return {
    add(problem, finder) {
      if (isKnown(problem)) return;
      if (noted.length < languageLimits.problems) noted.push({ problem, finder });
      else more += 1;
    },
    count: () => noted.length + more,
    anyAt: (file, pointer) => refused.has(`${file}\n${pointer}`),
    anyBelow: (isFile, pointers) =>
      noted.some(
        ({ problem: { file, pointer } }) =>
          isFile(file) && pointers.some((above) => `${pointer}/`.startsWith(`${above}/`)),
      ),
    list() {
      const sorted = sortProblems(locateAll(noted));
      if (more === 0) return sorted;
      const message = `there are ${more} more problems that are not listed`;
      return [...sorted, { file: '', pointer: '', code: 'more_problems', message }];
    },
  };
};

/** Codes of rules about the name of a key. Their problems are shown at the key, all other problems at the value. */
const keyCodes: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'unknown_key',
  'unexpected_key',
  'duplicate_key',
  'unknown_keyword',
  'unsupported_keyword',
  'bad_name',
  'reserved_name',
  'name_collision',
]);

/** Data that all places of a file have in common. */
type Ground = { problems: Problems; file: string; locate?: Locate | undefined };

/** Place of a value. Every value that is read has a place, so places are instances of a class with shared methods. */
class PlaceOnGround implements Place {
  readonly #ground: Ground;
  readonly pointer: string;
  readonly #isKey: boolean;

  constructor(ground: Ground, pointer: string, isKey: boolean) {
    this.#ground = ground;
    this.pointer = pointer;
    this.#isKey = isKey;
  }

  get file(): string {
    return this.#ground.file;
  }

  at(...segments: (string | number)[]): Place {
    let { pointer } = this;
    for (const segment of segments) pointer += `/${escapeSegment(segment)}`;
    return new PlaceOnGround(this.#ground, pointer, false);
  }

  ofKey(): Place {
    return new PlaceOnGround(this.#ground, this.pointer, true);
  }

  refuse(code: ProblemCode, message: string, hint?: string): void {
    const { problems, file, locate } = this.#ground;
    const { pointer } = this;
    const problem = { file, pointer, code, message, ...(hint === undefined ? {} : { hint }) };
    const finder = locate && { locate, isKey: this.#isKey || keyCodes.has(code) };
    problems.add(problem, finder);
  }

  isRefused(): boolean {
    const { problems, file } = this.#ground;
    return problems.anyAt(file, this.pointer);
  }
}

/** Creates the root place of a file, or of a part of it. */
export const createPlace = (problems: Problems, file: string, locate?: Locate): Place =>
  new PlaceOnGround({ problems, file, locate }, '', false);

/**
 * Returns a place that reports nothing; it is used for default values in place of a value that was refused as a whole.
 */
export const silent = (place: Place): Place => ({
  file: place.file,
  pointer: place.pointer,
  at: (...segments) => silent(place.at(...segments)),
  ofKey: () => silent(place.ofKey()),
  refuse: () => undefined,
  isRefused: () => place.isRefused(),
});
