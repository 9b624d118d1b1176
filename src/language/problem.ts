/** Problems of a world tree. They are values, so that those of the whole tree are collected and reported together. */
import { compareTexts } from '#domain/tree-path.ts';

/** A problem of a world tree: its place, its cause and the way out. */
export type Problem = {
  /** Path of the file in the tree. */
  file: string;
  /** JSON pointer into the document of the file, with TOML treated as JSON; '' is the whole document. */
  pointer: string;
  /** Stable name of the rule, for example `unknown_key`. */
  code: string;
  message: string;
  hint?: string;
  /**
   * Line and column of the problem, both from 1; columns count UTF-16 code units. Either both are present or none; they
   * are absent if the problem concerns the whole file.
   */
  line?: number;
  column?: number;
};

/** Sorts problems in reading order: by file, line and column, then by pointer. */
export const sortProblems = (problems: readonly Problem[]): Problem[] =>
  [...problems].sort(
    (a, b) =>
      compareTexts(a.file, b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      compareTexts(a.pointer, b.pointer),
  );
