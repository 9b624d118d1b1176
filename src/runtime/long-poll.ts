/**
 * Long poll: requests the changes since the last answer again and again; the server holds each answer until there is a
 * change, or the time is up. After a failure the next answer is requested without a hold, since it shows that the
 * server is back. An answer after the deadline counts as a failure.
 */
import type { Log } from './log.ts';
import { type Loop, startLoop } from './loop.ts';

/** One request of a long poll. */
export type Poll = {
  /** Revision of the last answer, in the server's terms; undefined at first. */
  after: string | undefined;
  /** Time for which the server may hold the answer, in milliseconds; 0 for an immediate answer. */
  holdMs: number;
  signal: AbortSignal;
};

export type LongPollOptions<Answer extends { revision: string }, Status> = {
  name: string;
  /** Longest hold of one answer, in milliseconds. */
  holdMs: number;
  ask(poll: Poll): Promise<Answer>;
  /** Processes each answer; the next is requested when it is done. Its result is the loop's status. */
  take(answer: Answer, signal: AbortSignal): Status | Promise<Status>;
  log: Log;
};

/** Time beyond the hold for the way there and back, in milliseconds. */
const answerMs = 10_000;

/** Starts to poll at once. */
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
