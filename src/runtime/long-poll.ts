/**
 * A long poll: asks again and again what there is since the last answer; the server holds each answer until
 * there is news, or the time is up. After a failure an answer is wanted at once: it says that the server is
 * back. An answer that does not come in time will not come.
 */
import type { Log } from './log.ts';
import { type Loop, startLoop } from './loop.ts';

/** One question. */
export type Poll = {
  /** The revision of the last answer, however the server calls it; undefined at first. */
  after: string | undefined;
  /** How long the server may hold the answer; 0 for an answer at once. */
  holdMs: number;
  signal: AbortSignal;
};

export type LongPollOptions<Answer extends { revision: string }, Status> = {
  name: string;
  /** The longest hold of one answer. */
  holdMs: number;
  ask(poll: Poll): Promise<Answer>;
  /** Told each answer; the next is asked for when it is done. What it returns is the loop's status. */
  take(answer: Answer, signal: AbortSignal): Status | Promise<Status>;
  log: Log;
};

/** Beyond the hold, for the way there and back. */
const answerMs = 10_000;

/** Starts asking at once. */
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
