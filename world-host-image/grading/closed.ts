/** Adds the check of a closed world to the checks of its grader: no change is left unexplained. */
import { clip } from '#domain/cut.ts';
import type { GradeChange, GradeChanges } from '#wire/public-api/sessions/grade.ts';
import type { GraderChanges } from '#wire/public-api/worlds/grader-changes.ts';
import { type CheckResult, verdictOf } from './check-result.ts';

/** Maximum number of unexplained changes that the check names. The next constant is the maximum length of each. */
const mostNamed = 5;
const longestNamed = 200;

const describeChange = ({ entity, key, change, fields }: GradeChange): string => {
  const which = change === 'updated' ? ` (${Object.keys(fields).join(', ')})` : '';
  return clip(`${entity} ${JSON.stringify(key)} ${change}${which}`, longestNamed);
};

const describeFound = ({ changes, unexplained }: GradeChanges): string | null => {
  if (changes.unexplained === 0) return null;
  const named = unexplained.slice(0, mostNamed).map(describeChange);
  const more = changes.unexplained - named.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
};

/**
 * Returns the check that every change is explained by a check or allowed by the task; no check if the world is open.
 */
export const closedCheck = (
  { closed }: GraderChanges,
  found: GradeChanges | undefined,
): CheckResult[] => {
  if (closed !== true || found === undefined) return [];
  return [
    {
      name: 'nothing else changed',
      ...verdictOf(found.changes.unexplained === 0),
      expected: 'no change beside those that checks ask for and the task allows',
      found: describeFound(found) ?? 'no other change',
      detail: null,
    },
  ];
};
