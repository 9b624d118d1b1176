/**
 * The corpus: the rules of the world language, each with trees that it accepts and trees that it
 * refuses. A tree is the small world after the smallest change that shows the rule. What a refused
 * tree is told, to the letter and with the line at fault, stands in `<chapter>.golden.txt` beside the
 * cases; `test/contract/language/corpus.test.ts` holds it to what the compiler says.
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
  /** The rule in a sentence. */
  rule: string;
  accepts: readonly Accepted[];
  refuses: readonly Refused[];
};

export type Chapter = {
  title: string;
  /** What finds the problems of a tree; without it the compiler does. */
  judge?(tree: readonly TreeFile[]): Problem[];
  rules: readonly Rule[];
};
