/**
 * Long poll: repeatedly requests the changes since the last answer. The server holds each answer until there is a
 * change, or until the hold time is up. After a failure, the next answer is requested without a hold, because an
 * immediate answer shows that the server is back. An answer after the deadline counts as a failure.
 */
import type { Log } from './log.ts';
import { type Loop, startLoop } from './loop.ts';

/** One request of a long poll. */
export type Poll = {
  /** Revision of the last answer, as the server named it; undefined for the first request. */
  after: string | undefined;
  /** Time for which the server may hold the answer, in milliseconds; 0 requests an immediate answer. */
  holdMs: number;
  signal: AbortSignal;
};

export type LongPollOptions<Answer extends { revision: string }, Status> = {
  name: string;
  /** Maximum time for which the server may hold an answer, in milliseconds. */
  holdMs: number;
  ask(poll: Poll): Promise<Answer>;
  /** Processes an answer; the next answer is requested when this is done. The result becomes the loop's status. */
  take(answer: Answer, signal: AbortSignal): Status | Promise<Status>;
  log: Log;
};

/** Time allowed for an answer beyond the hold, for the network and the server, in milliseconds. */
const answerMs = 10_000;

/** Starts a long poll; the first request is sent at once. */
export const startLongPoll = <Answer extends { revision: string }, Status>({
  name,
  holdMs: longestHoldMs,
  ask,
  take,
  log,
}: LongPollOptions<Answer, Status>): Loop<Status> => {
  let after: string | undefined;
  let isConnected = false;
  const tick = async (stopping: AbortSignal): Promise<Status> => {
    const holdMs = isConnected ? longestHoldMs : 0;
    isConnected = false;
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(holdMs + answerMs)]);
    const answer = await ask({ after, holdMs, signal });
    after = answer.revision;
    isConnected = true;
    return await take(answer, stopping);
  };
  return startLoop({ name, everyMs: 0, tick, log });
};
