/**
 * Waiting for a session through held requests. One may be answered before its time is up, by a service
 * that is about to end; the next then waits on.
 */
import { limits } from '#domain/limits.ts';
import type { SessionState } from '#domain/session.ts';
import type { Client } from '#wire/client.ts';
import { getSession } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/session.ts';

const longestWaitSeconds = limits.waitMs / 1_000;

/** How long the first request is held when the whole wait is so long; `false` waits for nothing. */
export const firstWaitSeconds = (wait: number | false): number =>
  wait === false ? 0 : Math.min(wait, longestWaitSeconds);

export type SessionWait = {
  client: Client;
  session: SessionView;
  /** On the clock of `performance.now()`. */
  endsAt: number;
  signal?: AbortSignal;
};

/** The session as it is once it has left these states, or the time is over. */
const waitWhile = async (
  states: readonly SessionState[],
  { client, session: first, endsAt, signal }: SessionWait,
): Promise<SessionView> => {
  let session = first;
  while (states.includes(session.state)) {
    const restSeconds = (endsAt - performance.now()) / 1_000;
    if (restSeconds <= 0) return session;
    const answer = await client.send(getSession, {
      params: { sessionId: session.id },
      query: { wait: Math.min(restSeconds, longestWaitSeconds) },
      ...(signal === undefined ? {} : { signal }),
    });
    session = answer.body;
  }
  return session;
};

/** The session as it is once it is ready, has ended, or the time is over. */
export const waitUntilReady = (wait: SessionWait): Promise<SessionView> =>
  waitWhile(['PROVISIONING'], wait);

/** The session of which the end was asked for, once it has ended or the time is over. */
export const waitUntilClosed = (wait: SessionWait): Promise<SessionView> =>
  waitWhile(['CLOSING'], wait);
