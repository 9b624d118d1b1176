/**
 * Call `grade`: judges the state that the session left by the grader of its task. A grade that finds the task undone is
 * a call that succeeded; only a grader that cannot judge fails it.
 */
import { gradeSession } from '../grading/grade.ts';
import { CallFailure } from './answers/failure.ts';
import { type RunCall, refuseUnknown } from './call.ts';

export const callGrade: RunCall = async (session, _call, input) => {
  refuseUnknown(input, []);
  const grader = session.task?.grader;
  if (grader === undefined) {
    throw new CallFailure({ code: 'no_grader', message: 'the session has no task with a grader' });
  }
  return { output: await gradeSession(session, grader), changes: {} };
};
