/**
 * Validates an edit by compiling the tree before and after it. Problems that appear only afterwards count as problems
 * of the edit. So a tree that already has problems can be edited one step at a time.
 */
import type { TreeFile } from '#domain/world.ts';
import { type CompileResult, compileTree } from '../compile/compile.ts';
import type { Problem } from '../problem.ts';
import { outlineJson } from '../read/json-positions.ts';
import { createLocate } from '../read/positions.ts';
import { textAt } from './tree-text.ts';

const problemsOf = (result: CompileResult): Problem[] => (result.ok ? [] : result.problems);

/**
 * Returns a key by which a problem is recognised although lines have moved. The message about a row may change when its
 * schema is edited, so the key of such a problem is the row's number.
 */
const identityOf = ({ file, pointer, code, message }: Problem): string =>
  code === 'bad_row'
    ? JSON.stringify([file, pointer.split('/')[1], code])
    : JSON.stringify([file, pointer, code, message]);

/**
 * Returns the problems of an edited JSON file, with lines and columns in the unedited file. A problem of a new value
 * gets the place where the value would be added.
 */
export const placeUnedited = (
  problems: readonly Problem[],
  before: readonly TreeFile[],
  file: string,
): Problem[] => {
  const inFile = problems.filter((problem) => problem.file === file);
  const locate = createLocate(textAt(before, file), outlineJson);
  const positions = locate(inFile.map(({ pointer }) => ({ pointer, isKey: false })));
  const placed = new Map(inFile.map((problem, index) => [problem, positions[index]]));
  return problems.map((problem) => {
    if (!placed.has(problem)) return problem;
    const { line: _line, column: _column, ...rest } = problem;
    return { ...rest, ...placed.get(problem) };
  });
};

/** Finds the problems that edits of one JSON file would add to a tree. The unedited tree is compiled at most once. */
export type Judge = {
  /** Returns the problems of the unedited tree. */
  before(): Problem[];
  /**
   * Returns the problems that the edited tree has and the unedited tree lacks, in reading order, with positions in the
   * unedited file.
   */
  added(after: readonly TreeFile[]): Problem[];
};

export const createJudge = (files: readonly TreeFile[], editedFile: string): Judge => {
  let known: Problem[] | undefined;
  const before = (): Problem[] => {
    known ??= problemsOf(compileTree(files));
    return known;
  };
  return {
    before,
    added(after) {
      const problems = problemsOf(compileTree(after));
      if (problems.length === 0) return [];
      const identities = new Set(before().map(identityOf));
      const added = problems.filter(
        (problem) => problem.code !== 'more_problems' && !identities.has(identityOf(problem)),
      );
      return placeUnedited(added, files, editedFile);
    },
  };
};
