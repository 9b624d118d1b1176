/**
 * Every operation of the host API, on a given host and session. The tests of attacks with hosts' tokens try each
 * operation.
 */
import {
  answerCall,
  consumeEntry,
  deliverRequests,
  getBlob,
  heartbeat,
  pollCalls,
  pollHost,
  reportClosed,
  reportFailed,
  reportLeaving,
  reportReady,
  reportUnloaded,
  reportWarm,
} from '#wire/host-api/operations.ts';
import type { Send } from './control.ts';
import { baseState } from './host.ts';

const entry = {
  id: 1,
  at: '2026-01-01T00:00:00.000Z',
  via: 'api',
  operation: 'forged',
  method: 'GET',
  path: '/forged',
  status: 200,
  duration_ms: 1,
  request: null,
  response: null,
  changes: {},
  rows: [],
  call_id: null,
};

/** Host, session and call that an operation is about. */
export type Target = { hostId: string; sessionId: string; callId: string; generation: number };

/** Operations of the host API, by name, on a host and a session. */
const operations: Record<string, (send: Send, target: Target) => Promise<unknown>> = {
  reportWarm: (send, { hostId, generation }) =>
    send(reportWarm, { params: { hostId }, body: { generation } }),
  pollHost: (send, { hostId, generation }) =>
    send(pollHost, { params: { hostId }, body: { generation } }),
  reportUnloaded: (send, { hostId, generation }) =>
    send(reportUnloaded, { params: { hostId }, body: { generation, message: 'forged' } }),
  heartbeat: (send, { hostId, generation }) =>
    send(heartbeat, { params: { hostId }, body: { generation, rssBytes: 1, idleMs: 0 } }),
  reportLeaving: (send, { hostId, generation }) =>
    send(reportLeaving, { params: { hostId }, body: { generation } }),
  reportReady: (send, { sessionId, generation }) => {
    const holding = { bundle: baseState, stateDigest: baseState };
    return send(reportReady, { params: { sessionId }, body: { generation, holding } });
  },
  reportFailed: (send, { sessionId, generation }) =>
    send(reportFailed, { params: { sessionId }, body: { generation, code: 'x', message: 'x' } }),
  consumeEntry: (send, { sessionId, generation }) =>
    send(consumeEntry, {
      params: { sessionId },
      body: { generation, surface: 'ui', token: 'lt-forged' },
    }),
  pollCalls: (send, { sessionId, generation }) =>
    send(pollCalls, { params: { sessionId }, query: { generation } }),
  answerCall: (send, { sessionId, callId, generation }) => {
    const answer = { output: 'forged', changes: {} };
    return send(answerCall, { params: { sessionId, callId }, body: { generation, answer } });
  },
  deliverRequests: (send, { sessionId, generation }) =>
    send(deliverRequests, {
      params: { sessionId },
      body: { generation, entries: [JSON.stringify(entry)] },
    }),
  reportClosed: (send, { sessionId, generation }) =>
    send(reportClosed, { params: { sessionId }, body: { generation } }),
  getBlob: (send) => send(getBlob, { params: { digest: baseState } }),
};
/** Names of the operations. */
export const names = Object.keys(operations);
/** Names of operations on a session. */
export const ofSessions = names.filter((name) =>
  /Ready|Failed|Calls|Call|Requests|Closed|Entry/.test(name),
);
/** Names of operations on a host. */
export const ofHosts = names.filter((name) => !ofSessions.includes(name) && name !== 'getBlob');

/** Sends the operation of a name. */
export const attempt = (name: string, send: Send, target: Target): Promise<unknown> =>
  operations[name]?.(send, target) ?? Promise.reject(new Error(`no operation ${name}`));
