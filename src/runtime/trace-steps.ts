/**
 * Steps of a session's trace, and their ids. The ids of a trace and of its steps are derived from the session's id. So
 * programs and replicas that know nothing of each other add to the same trace, without passing or storing ids.
 */
import { createHash } from 'node:crypto';

/** A timed step of a trace. Times are in milliseconds since 1970. */
export type Step = {
  name: string;
  /**
   * Key that distinguishes the step from steps of the same name in its trace. If it is absent, the name is the key,
   * because there is only one such step.
   */
  key?: string;
  beganMs: number;
  endedMs: number;
  /** Key of the step that contains this step; absent: the step `open`, which contains all others. */
  within?: string;
  attributes?: Record<string, string | number | boolean>;
  /** Reason why the step failed; absent if it did not fail. */
  error?: string;
  /** W3C `traceparent` of the request that caused the step. */
  causedBy?: string | undefined;
  /** Program that performed the step, if another program reports it. */
  program?: string;
};

/** A step that has been reported and is to be sent. */
export type ReportedStep = {
  sessionId: string;
  program: string;
  step: Step;
};

/** Name of the step that contains all others. */
export const wholeStep = 'open';

/** Name of the step for a session's first call. It includes the time for everything that was not prepared earlier. */
export const firstCallStep = 'first call';

const hashOf = (text: string, bytes: number): string =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, bytes * 2);

/** Returns the id of a session's trace: 32 hexadecimal digits. */
export const traceIdOf = (sessionId: string): string => hashOf(`trace:${sessionId}`, 16);

/** Returns the id of a step in its session's trace, by its key: 16 hexadecimal digits. */
export const spanIdOf = (sessionId: string, key: string): string =>
  hashOf(`${key}:${sessionId}`, 8);
