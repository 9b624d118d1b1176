/**
 * A problem of a world tree: what is wrong, where, and the way out. Problems are values, collected
 * over the whole tree and reported together, in file order.
 */
export type Problem = {
  /** Path of the file in the tree. */
  file: string;
  /** JSON pointer into the file's document, for TOML files as if it were JSON; '' is the whole. */
  pointer: string;
  /** Stable name of the rule, for example `unknown_key`. */
  code: string;
  message: string;
  hint?: string;
  /** From 1, where known. */
  line?: number;
  column?: number;
};

/** Orders problems as a reader meets them: by file, then by line, then by pointer. */
export const sortProblems = (problems: readonly Problem[]): Problem[] =>
  [...problems].sort(
    (a, b) =>
      a.file.localeCompare(b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      a.pointer.localeCompare(b.pointer),
  );
