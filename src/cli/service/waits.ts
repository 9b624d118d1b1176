/**
 * Waiting for a session or for the answer to a call, however long it takes: a row of held requests. One may
 * be answered before its time is up, by a service that is about to end; the next then waits on.
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

/** How long the first request is held when the whole wait is so long; `false` waits for nothing. */
export const firstWaitSeconds = (wait: number | false): number =>
  wait === false ? 0 : Math.min(wait, longestWaitSeconds);

type SessionWait = {
  client: Client;
  session: SessionView;
  /** On the clock of `performance.now()`. */
  endsAt: number;
  signal?: AbortSignal;
};

/** The session as it is once this holds of it no more, or the time is over. */
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

/** Whether a session may become ready still: its world is loaded, or its browser comes. */
const isOnItsWay = ({ ready, state, surfaces }: SessionView): boolean =>
  state === 'PROVISIONING' || (state === 'READY' && !ready && surfaces.browser?.state !== 'failed');

/** The session as it is once it is ready, has ended, or the time is over. */
export const waitUntilReady = (wait: SessionWait): Promise<SessionView> =>
  waitWhile(isOnItsWay, wait);

/** The session of which the end was asked for, once it has ended or the time is over. */
export const waitUntilClosed = (wait: SessionWait): Promise<SessionView> =>
  waitWhile(({ state }) => state === 'CLOSING', wait);

const isAnswered = (call: CallView): boolean => isFinal(callTransitions, call.state);

type CallOptions = {
  client: Client;
  sessionId: string;
  call: CallRequest;
  signal?: AbortSignal;
  /** Seconds that one request is held at most; less only in tests. */
  holdSeconds?: number;
};

/** The answered call record. A call that failed is a record too and not an error here. */
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

/** The same, with progress on standard error when it takes long. */
export const runCall = (context: Context, options: CallOptions): Promise<CallView> => {
  const what = options.call.name ?? options.call.kind;
  return withProgress({ out: context.err, step: `waiting for ${what}` }, () => sendCall(options));
};
