/** Pauses of a grade: other work runs during them, and they end a grade that takes too long. */
import { setImmediate } from 'node:timers/promises';
import { CallFailure } from '../calls/answers/failure.ts';

/** Function that lets other work run. A grader calls it regularly. Throws `CallFailure` when the grade's time is up. */
export type Pause = () => Promise<void>;

/** Time limit of a grade in milliseconds, the same as for a grader in Python. */
export const gradeMs = 120_000;

export const createPause = (mostMs = gradeMs): Pause => {
  const end = performance.now() + mostMs;
  return async () => {
    await setImmediate();
    if (performance.now() < end) return;
    const message = `the checks took more than ${mostMs / 1_000} s`;
    throw new CallFailure({ code: 'timeout', message });
  };
};
