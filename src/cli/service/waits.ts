/**
 * Waits for a session, or for the answer to a call, with a series of long polls. If a service that shuts down answers a
 * poll early, the next poll continues the wait.
 */
import { callTransitions } from '#domain/call.ts';
import { limits } from '#domain/limits.ts';
import { isFinal } from '#domain/transitions.ts';
import type { Client } from '#wire/client.ts';
import { enqueueCall, getCall, getSession } from '#wire/public-api/operations.ts';
import type { CallRequest, CallView } from '#wire/public-api/sessions/call.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import type { Context } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';

const longestWaitSeconds = limits.waitMs / 1_000;

/**
 * Returns the seconds for which the first request may be held, for a total wait of the given length; for `false`, the
 * request is not held.
 */
export const firstWaitSeconds = (wait: number | false): number =>
  wait === false ? 0 : Math.min(wait, longestWaitSeconds);

type SessionWait = {
  client: Client;
  session: SessionView;
  /** Deadline in milliseconds, on the clock of `performance.now()`. */
  endsAt: number;
  signal?: AbortSignal;
};

/** Polls the session while the condition holds, at most until the time is over. Returns the session's last state. */
const waitWhile = async (
  holds: (session: SessionView) => boolean,
  { client, session: first, endsAt, signal }: SessionWait,
): Promise<SessionView> => {
  let session = first;
  while (holds(session)) {
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

/** Returns true if the session may still become ready: its world or its browser is starting. */
const isOnItsWay = ({ ready, state, surfaces }: SessionView): boolean =>
  state === 'PROVISIONING' || (state === 'READY' && !ready && surfaces.browser?.state !== 'failed');

/** Waits until the session is ready or has ended, or the time is over. Returns the session's last state. */
export const waitUntilReady = (wait: SessionWait): Promise<SessionView> =>
  waitWhile(isOnItsWay, wait);

/** Waits until a session that is closing has ended, or the time is over. Returns the session's last state. */
export const waitUntilClosed = (wait: SessionWait): Promise<SessionView> =>
  waitWhile(({ state }) => state === 'CLOSING', wait);

const isAnswered = (call: CallView): boolean => isFinal(callTransitions, call.state);

type CallOptions = {
  client: Client;
  sessionId: string;
  call: CallRequest;
  signal?: AbortSignal;
  /** Maximum time for which one request is held, in seconds; shorter only in tests. */
  holdSeconds?: number;
};

/** Sends a call and returns its final record. A failed call is returned as a record, too; it is not an error here. */
export const sendCall = async (options: CallOptions): Promise<CallView> => {
  const { client, sessionId, call, holdSeconds = longestWaitSeconds, signal } = options;
  const query = { wait: holdSeconds };
  const aborting = signal === undefined ? {} : { signal };
  let { body: record } = await client.send(enqueueCall, {
    params: { sessionId },
    query,
    body: call,
    ...aborting,
  });
  while (!isAnswered(record)) {
    const params = { sessionId, callId: record.id };
    ({ body: record } = await client.send(getCall, { params, query, ...aborting }));
  }
  return record;
};

/** Sends a call as `sendCall` does, and shows progress on standard error while the call takes long. */
export const runCall = (context: Context, options: CallOptions): Promise<CallView> => {
  const what = options.call.name ?? options.call.kind;
  return withProgress({ out: context.err, step: `waiting for ${what}` }, () => sendCall(options));
};
