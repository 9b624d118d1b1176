/** Problems of a world tree: values that are collected over the whole tree and reported together. */
import { compareTexts } from '#domain/tree-path.ts';

/** What is wrong in a world tree, where, and the way out. */
export type Problem = {
  /** Path of the file in the tree. */
  file: string;
  /** JSON pointer into the file's document, for TOML files as if it were JSON; '' is the whole. */
  pointer: string;
  /** Stable name of the rule, for example `unknown_key`. */
  code: string;
  message: string;
  hint?: string;
  /**
   * Where it shows, both from 1 and both or neither; columns count UTF-16 code units. Absent where
   * only the file as a whole fits.
   */
  line?: number;
  column?: number;
};

/** Orders problems as a reader meets them: by file, line and column, then by pointer. */
export const sortProblems = (problems: readonly Problem[]): Problem[] =>
  [...problems].sort(
    (a, b) =>
      compareTexts(a.file, b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      compareTexts(a.pointer, b.pointer),
  );
