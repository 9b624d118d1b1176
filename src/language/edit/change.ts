/**
 * What an edit of a world tree answers: the files that are other than before, and each change with its
 * place and its reason, for whoever shows it; or why it cannot be made.
 */
import type { TreeFile } from '#domain/world.ts';
import type { Problem } from '../problem.ts';

/** One change of a hand-written file. */
export type Change = {
  file: string;
  /** JSON pointer of what changed; of what was removed, in the file as it was before. */
  pointer: string;
  kind: 'added' | 'removed' | 'changed';
  /** The value before, unless it was added. */
  before?: unknown;
  /** The value now, unless it was removed. */
  after?: unknown;
  /** Why, in a sentence without its full stop. */
  reason: string;
};

export type EditResult =
  | {
      ok: true;
      /** Only the files that are other than before. */
      files: TreeFile[];
      /** Paths of files that are to go; absent where none are. */
      removed?: string[];
      changes: Change[];
      /** What the edit leaves to its caller, a sentence each. */
      notes: string[];
    }
  | { ok: false; problems: Problem[] };
