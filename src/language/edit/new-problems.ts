/**
 * Judges an edit by compiling the tree before and after it: what is wrong only afterwards is what the
 * edit would break. A tree that already has problems can thus be edited, one thing at a time.
 */
import type { TreeFile } from '#domain/world.ts';
import { type CompileResult, compileTree } from '../compile/compile.ts';
import type { Problem } from '../problem.ts';
import { outlineJson } from '../read/json-positions.ts';
import { createLocate } from '../read/positions.ts';
import { textAt } from './tree-text.ts';

const problemsOf = (result: CompileResult): Problem[] => (result.ok ? [] : result.problems);

/**
 * What makes two problems the same one, wherever lines have moved to. What is wrong with a row may be
 * told in other words after its schema was edited; such rows are known by their number.
 */
const identityOf = ({ file, pointer, code, message }: Problem): string =>
  code === 'bad_row'
    ? JSON.stringify([file, pointer.split('/')[1], code])
    : JSON.stringify([file, pointer, code, message]);

/**
 * Problems of an edited JSON file with the lines and columns that their places have in the file as it
 * stands, unedited; what is not there yet is shown where it would be added.
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

/** Tells what edits of one JSON file would break in a tree, which is compiled at most once itself. */
export type Judge = {
  /** The problems that the tree has as it stands. */
  before(): Problem[];
  /** Those that it would have only after the edit, in reading order, placed in the unedited file. */
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
