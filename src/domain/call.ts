/**
 * A call: one request to a session, put in a queue by a client and answered by the session's host.
 * Calls of a session run one at a time, in the order of `seq`, and at most once.
 */
import type { TransitionTable } from './transitions.ts';

/** What clients may ask for. */
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
 * `tool` names a tool of the world; the others are the session's own operations. The control plane makes the
 * last three itself: `webhooks` reads the subscriptions, `webhook-answers` writes what receivers answered into the
 * ledger, `export` reads all that there is of the session.
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
 * `claimed`: the host has it and may have begun. `failed`: it was answered with an error and changed
 * nothing. `lost`: the host died while it had the call, so nobody knows. `cancelled`: the session
 * ended before a host took it.
 */
export const callTransitions: TransitionTable<CallState> = {
  queued: ['claimed', 'cancelled'],
  claimed: ['succeeded', 'failed', 'lost'],
  succeeded: [],
  failed: [],
  lost: [],
  cancelled: [],
};

/** Why a call failed, in words that a model can act on. `path` is a JSON pointer into the input. */
export type CallError = {
  code: string;
  message: string;
  path?: string;
  details?: unknown;
};

/** What lists show of an error, as JSON text; the rest is whatever somebody's code gave. */
export const shortErrorJson = ({ code, message, path }: CallError): string =>
  JSON.stringify({ code, message, path });

/** How many rows of each entity a call inserted, updated and deleted. */
export type EntityChanges = { inserted: number; updated: number; deleted: number };
export type ChangeCounts = Record<string, EntityChanges>;
