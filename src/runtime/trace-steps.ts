/**
 * Steps of a session's trace and their ids. The ids of a trace and of its steps derive from the session's id. So
 * programs and replicas that know nothing of each other add to one trace, without passing or storing ids.
 */
import { createHash } from 'node:crypto';

/** A timed step of a trace. Times are in Unix milliseconds. */
export type Step = {
  name: string;
  /** Key that distinguishes it from steps of the same name in its trace; absent: the name, as there is only one. */
  key?: string;
  beganMs: number;
  endedMs: number;
  /** Key of the step that it is part of; absent: the whole, `open`. */
  within?: string;
  attributes?: Record<string, string | number | boolean>;
  /** Reason of its failure. */
  error?: string;
  /** W3C `traceparent` of the request that caused it. */
  causedBy?: string | undefined;
  /** Program that performed it, if it is not the one that reports it. */
  program?: string;
};

/** A step that waits to be sent. */
export type ReportedStep = {
  sessionId: string;
  program: string;
  step: Step;
};

/** Name of the step that all others are part of. */
export const wholeStep = 'open';

/** Name of the first call of a session, which includes the time for anything not prepared earlier. */
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
