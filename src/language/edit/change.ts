/**
 * Result of an edit of a world tree. It has the changed files, and each change with its place and its reason for
 * display; or else the problems that prevent the edit.
 */
import type { TreeFile } from '#domain/world.ts';
import type { Problem } from '../problem.ts';

/** One change of a hand-written file. */
export type Change = {
  file: string;
  /** JSON pointer to the changed value. For a removed value, it points into the file before the edit. */
  pointer: string;
  kind: 'added' | 'removed' | 'changed';
  /** Value before the edit; absent if the edit added the value. */
  before?: unknown;
  /** Value after the edit; absent if the edit removed the value. */
  after?: unknown;
  /** Reason of the change, as a sentence without a full stop. */
  reason: string;
};

export type EditResult =
  | {
      ok: true;
      /** Files that the edit changed, and no others. */
      files: TreeFile[];
      /** Paths of files to remove; absent if there are none. */
      removed?: string[];
      changes: Change[];
      /** Work that the edit leaves to the author, one sentence each. */
      notes: string[];
    }
  | { ok: false; problems: Problem[] };
