/**
 * Result of an edit of a world tree: the changed files, and each change with its place and its reason for display; or
 * the problems that prevent the edit.
 */
import type { TreeFile } from '#domain/world.ts';
import type { Problem } from '../problem.ts';

/** One change of a hand-written file. */
export type Change = {
  file: string;
  /** JSON pointer to the changed value; for a removed value, into the file before the edit. */
  pointer: string;
  kind: 'added' | 'removed' | 'changed';
  /** Value before the edit; absent if it was added. */
  before?: unknown;
  /** Value after the edit; absent if it was removed. */
  after?: unknown;
  /** Reason, as a sentence without its full stop. */
  reason: string;
};

export type EditResult =
  | {
      ok: true;
      /** Changed files only. */
      files: TreeFile[];
      /** Paths of files to remove; absent if there are none. */
      removed?: string[];
      changes: Change[];
      /** Work that the edit leaves to the author, a sentence each. */
      notes: string[];
    }
  | { ok: false; problems: Problem[] };
