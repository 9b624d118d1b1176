/**
 * Sends a call to a session and waits for its answer, however long the session takes. The wait is a
 * row of held requests; only the first one makes the call, the others look at it.
 */

import { callTransitions } from '#domain/call.ts';
import { limits } from '#domain/limits.ts';
import { isFinal } from '#domain/transitions.ts';
import type { Client } from '#wire/client.ts';
import type { CallRequest, CallView } from '#wire/public-api/call.ts';
import { enqueueCall, getCall } from '#wire/public-api/operations.ts';
import type { Context } from './context.ts';
import { withProgress } from './progress.ts';

const longestWaitSeconds = limits.waitMs / 1_000;

const isAnswered = (call: CallView): boolean => isFinal(callTransitions, call.state);

export type CallOptions = {
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
