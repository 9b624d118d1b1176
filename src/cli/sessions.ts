/** Waiting for a session through held requests. */
import { limits } from '#domain/limits.ts';
import type { Client } from '#wire/client.ts';
import { getSession } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/session.ts';

const longestWaitSeconds = limits.waitMs / 1_000;

/** How long the first request is held when the whole wait is so long; `false` waits for nothing. */
export const firstWaitSeconds = (wait: number | false): number =>
  wait === false ? 0 : Math.min(wait, longestWaitSeconds);

const isUnderWay = ({ state }: SessionView): boolean =>
  state === 'PROVISIONING' || state === 'RECOVERING';

export type SessionWait = {
  client: Client;
  session: SessionView;
  /** On the clock of `performance.now()`. */
  endsAt: number;
  signal?: AbortSignal;
};

/** The session as it is once it is ready, has ended, or the time is over. */
export const waitUntilReady = async (wait: SessionWait): Promise<SessionView> => {
  let session = wait.session;
  while (isUnderWay(session)) {
    const restSeconds = (wait.endsAt - performance.now()) / 1_000;
    if (restSeconds <= 0) return session;
    const answer = await wait.client.send(getSession, {
      params: { sessionId: session.id },
      query: { wait: Math.min(restSeconds, longestWaitSeconds) },
      ...(wait.signal === undefined ? {} : { signal: wait.signal }),
    });
    session = answer.body;
  }
  return session;
};
