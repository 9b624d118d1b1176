/**
 * Problems that tell of the check itself. No small change of a tree brings one of them about alone,
 * so each is given here as it is told.
 */
import type { Problem } from '#language/problem.ts';
import type { ProblemCode } from '#language/read/codes.ts';

const ofTheWhole = (code: ProblemCode, message: string, hint?: string): [ProblemCode, Problem] => [
  code,
  { file: '', pointer: '', code, message, ...(hint === undefined ? {} : { hint }) },
];

const simpler = 'give the tree fewer rows, or simpler schemas';

export const otherwise: ReadonlyMap<ProblemCode, Problem> = new Map([
  ofTheWhole('more_problems', 'there are 12 more problems, not listed'),
  ofTheWhole('out_of_time', 'compiling the world took longer than 20 s', simpler),
  ofTheWhole('out_of_memory', 'compiling the world took more than 512 MiB of memory', simpler),
]);
