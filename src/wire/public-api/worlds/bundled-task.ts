/** A task that a world bundles, in the form of an inline task. */
import { givenCheck } from '#language/checks.ts';
import type { Grader, Task } from '#language/task.ts';
import type { TaskSpec } from './task-spec.ts';

const graderOf = (grader: Grader): NonNullable<TaskSpec['grader']> =>
  grader.kind === 'assertions' ? { ...grader, checks: grader.checks.map(givenCheck) } : grader;

export const specOfBundled = ({
  name,
  instruction,
  tools,
  seed,
  grader,
  solution,
  alternatives,
}: Task): TaskSpec => ({
  name,
  ...(instruction === null ? {} : { instruction }),
  ...(tools === null ? {} : { tools }),
  seed,
  ...(grader === null ? {} : { grader: graderOf(grader) }),
  ...(solution === undefined ? {} : { solution }),
  ...(alternatives === undefined ? {} : { alternatives }),
});
