/**
 * Call `grade`: applies the task's grader to the present state of the session. The call succeeds even if the task is
 * not done, or if the grader cannot judge. With `changes`, it returns another page of the changes; it reuses the last
 * grade if nothing has happened since.
 */
import { isObject } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import { CallFailure } from '../calls/answers/failure.ts';
import { type RunCall, refuseUnknown } from '../calls/call.ts';
import { mostShownRows, type Page } from '../grading/changes/report.ts';
import { gradeSession } from '../grading/grade.ts';

const invalid = (path: string, message: string): never => {
  throw new CallFailure({ code: 'invalid_input', message, path });
};

const readNumber = (given: Row, name: keyof Page, fallback: number, max: number): number => {
  const value = given[name] ?? fallback;
  const isFine = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
  const message = `${name} must be a whole number from 0 to ${max}`;
  return isFine ? value : invalid(`/changes/${name}`, message);
};

/** Reads which page of the changes is requested; returns undefined if the request is for a grade. */
const readPage = ({ changes }: Row): Page | undefined => {
  if (changes === undefined) return undefined;
  if (!isObject(changes))
    return invalid('/changes', 'changes must be an object with offset and limit');
  const unknown = Object.keys(changes).find((name) => name !== 'offset' && name !== 'limit');
  if (unknown !== undefined) {
    return invalid(
      '/changes',
      `"${unknown.slice(0, 100)}" is not a member of changes, whose members are offset and limit`,
    );
  }
  return {
    offset: readNumber(changes, 'offset', 0, Number.MAX_SAFE_INTEGER),
    limit: readNumber(changes, 'limit', mostShownRows, mostShownRows),
  };
};

export const callGrade: RunCall = async (session, _call, input) => {
  refuseUnknown(input, ['changes']);
  const page = readPage(input);
  const grader = session.task?.grader;
  if (grader === undefined) {
    throw new CallFailure({ code: 'no_grader', message: 'the session has no task with a grader' });
  }
  return { output: await gradeSession(session, grader, page), changes: {} };
};
