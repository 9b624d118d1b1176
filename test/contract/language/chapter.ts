/**
 * Defines the corpus: the rules of the world language, each with trees that the compiler accepts and trees that it
 * refuses. Each tree is the small world after the smallest change that shows the rule. `<chapter>.golden.txt` beside
 * the cases has the exact messages for the refused trees, with the line at fault.
 * `test/contract/language/corpus.test.ts` compares it with the messages of the compiler.
 */
import type { TreeFile } from '#domain/world.ts';
import type { Problem } from '#language/problem.ts';
import type { ProblemCode } from '#language/read/codes.ts';
import type { Change } from '../../support/worlds/world-changes.ts';

/** A tree that compiles. */
export type Accepted = [what: string, change: Change];

/** A tree that is refused for one reason, which is reported once. */
export type Refused = [what: string, code: ProblemCode, change: Change];

export type Rule = {
  /** Text of the rule, as one sentence. */
  rule: string;
  accepts: readonly Accepted[];
  refuses: readonly Refused[];
};

export type Chapter = {
  title: string;
  /** Finds the problems of a tree; if absent, the compiler finds them. */
  judge?(tree: readonly TreeFile[]): Problem[];
  rules: readonly Rule[];
};
