/**
 * The steps of a session's trace and their ids. The trace of a session, and each step in it, have ids that
 * follow from the session's id. So programs and replicas that know nothing of each other add to one trace,
 * and nothing has to be carried or kept for that.
 */
import { createHash } from 'node:crypto';

/** What took time. Times are in Unix milliseconds. */
export type Step = {
  name: string;
  /** Tells it from other steps of its name in its session's trace; absent: it is the only one, and its name is its key. */
  key?: string;
  beganMs: number;
  endedMs: number;
  /** The key of the step that it is part of; absent: that of the whole, `open`. */
  within?: string;
  attributes?: Record<string, string | number | boolean>;
  /** Why it failed. */
  error?: string;
  /** The W3C `traceparent` of who asked for it. */
  causedBy?: string | undefined;
  /** The program that did it, where it is not the one that tells. */
  program?: string;
};

/** A step as it is kept until it is sent. */
export type ToldStep = {
  sessionId: string;
  program: string;
  step: Step;
};

/** The name of the step that all others are part of. */
export const wholeStep = 'open';

/** The name of the first call of a session, which pays what was not made ready before. */
export const firstCallStep = 'first call';

const hashOf = (text: string, bytes: number): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, bytes * 2);

/** The id of a session's trace: 32 hexadecimal digits. */
export const traceIdOf = (sessionId: string): string => hashOf(`trace:${sessionId}`, 16);

/** The id of a step in its session's trace, by its key: 16 hexadecimal digits. */
export const spanIdOf = (sessionId: string, key: string): string =>
  hashOf(`${key}:${sessionId}`, 8);
