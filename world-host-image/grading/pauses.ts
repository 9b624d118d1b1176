/** Pauses of a grade: others have their turn meanwhile, and a grade that takes too long ends. */
import { setImmediate } from 'node:timers/promises';
import { CallFailure } from '../calls/answers/failure.ts';

/** To be called now and then. Throws `CallFailure` when the time is up. */
export type Pause = () => Promise<void>;

/** As long as a grader in Python may take. */
export const gradeMs = 120_000;

export const createPause = (mostMs = gradeMs): Pause => {
  const end = performance.now() + mostMs;
  return async () => {
    await setImmediate();
    if (performance.now() < end) return;
    const message = `the checks were not done after ${mostMs / 1_000} s`;
    throw new CallFailure({ code: 'timeout', message });
  };
};
