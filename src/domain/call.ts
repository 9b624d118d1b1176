/**
 * A call: one request to a session, which a client puts in a queue and the session's host answers. Calls of a session
 * run one at a time, in the order of `seq`, and at most once.
 */
import type { TransitionTable } from './transitions.ts';

/** Kinds of calls that clients may enqueue. */
export const clientCallKinds = [
  'tool',
  'grade',
  'seed',
  'reset',
  'state',
  'answer',
  'faults',
  'screenshot',
  'close',
  'test',
  'prove',
] as const;

/**
 * All kinds of calls. `tool` runs a tool of the world; the others are operations of the session itself. Only the
 * control plane makes the last three kinds: `webhooks` reads the subscriptions, `webhook-answers` writes the receivers'
 * answers into the ledger, `export` reads the whole session.
 */
export const callKinds = [...clientCallKinds, 'webhooks', 'webhook-answers', 'export'] as const;
export type CallKind = (typeof callKinds)[number];

export const callStates = [
  'queued',
  'claimed',
  'succeeded',
  'failed',
  'lost',
  'cancelled',
] as const;
export type CallState = (typeof callStates)[number];

/**
 * Allowed transitions of a call. `claimed`: the host has the call and may have begun it. `failed`: the host answered
 * with an error, and the call changed nothing. `lost`: the host died while it had the call, so the call's effect is
 * unknown. `cancelled`: the session ended before a host took the call.
 */
export const callTransitions: TransitionTable<CallState> = {
  queued: ['claimed', 'cancelled'],
  claimed: ['succeeded', 'failed', 'lost'],
  succeeded: [],
  failed: [],
  lost: [],
  cancelled: [],
};

/** Error of a call, worded so that a model can act on it. `path` is a JSON pointer into the call's input. */
export type CallError = {
  code: string;
  message: string;
  path?: string;
  details?: unknown;
};

/**
 * Returns the members of an error that lists include, as JSON text. `details` is left out, because user code may put
 * anything there.
 */
export const shortErrorJson = ({ code, message, path }: CallError): string =>
  JSON.stringify({ code, message, path });

/** Numbers of rows of one entity that a call inserted, updated and deleted. */
export type EntityChanges = { inserted: number; updated: number; deleted: number };
export type ChangeCounts = Record<string, EntityChanges>;
