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
  /**
   * Where it shows, both from 1 and both or neither; columns count UTF-16 code units. Absent where
   * only the file as a whole fits.
   */
  line?: number;
  column?: number;
};

/** Compares texts by their UTF-16 code units: the same on every machine. */
const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Orders problems as a reader meets them: by file, line and column, then by pointer. */
export const sortProblems = (problems: readonly Problem[]): Problem[] =>
  [...problems].sort(
    (a, b) =>
      compareTexts(a.file, b.file) ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      compareTexts(a.pointer, b.pointer),
  );
