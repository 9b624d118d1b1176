/**
 * What a session's host is to do next: run a call, or stop serving the session. A host asks by its
 * long poll and by answering a call; both end here.
 */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { sessionTransitions } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import type { SessionHost } from '../db/calls.ts';
import { claimCall, type SessionOrders } from '../db/host-calls.ts';
import type { Parts } from '../parts.ts';
import { type HostCallText, toHostCall } from './view.ts';

export type OrderParts = Pick<Parts, 'db' | 'notices' | 'seats'>;

export type Hold = {
  /** Seconds, as the host asks; at most what a poll may hold. */
  seconds: number | undefined;
  /** Whether the host is stopping: nothing is held, and nothing new handed out. */
  isFinal: boolean;
  signal: AbortSignal;
};

/** A `SessionDirective`, with the input of a call as text. */
export type Directive = { call?: HostCallText; close?: { keepWarm: boolean } };

const lookAgainMs = 5_000;

/** The refusal that makes a host stop: what it says is about a session that is not its own. */
export const staleHost = (host: SessionHost): AppError =>
  new AppError(
    'conflict',
    `${host.hostId} of generation ${host.generation} does not serve ${host.sessionId}`,
  );

const toDirective = (
  orders: SessionOrders | undefined,
  host: SessionHost,
): Directive | undefined => {
  if (orders === undefined || isFinal(sessionTransitions, orders.state)) throw staleHost(host);
  if (orders.call !== undefined) return { call: toHostCall(orders.call) };
  if (orders.state === 'CLOSING') return { close: { keepWarm: orders.keepWarm } };
  return undefined;
};

/**
 * The next directive, held for until there is one. The first look may be the caller's own: it is taken
 * when news are already watched for, so that nothing falls between. Throws `conflict` when the session
 * is not this host's.
 */
export const nextDirective = async (
  { db, notices, seats }: OrderParts,
  host: SessionHost,
  hold: Hold,
  firstLook?: () => Promise<SessionOrders | undefined>,
): Promise<Directive> => {
  const holdMs = hold.isFinal ? 0 : Math.min((hold.seconds ?? 0) * 1_000, limits.pollMs);
  const endsAt = performance.now() + holdMs;
  const watch = notices.watch(host.sessionId);
  const claim = () => claimCall(db, host, hold.isFinal);
  let look = firstLook ?? claim;
  try {
    for (;;) {
      const directive = toDirective(await look(), host);
      if (directive !== undefined) return directive;
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0 || hold.signal.aborted || notices.closed) return {};
      look = claim;
      const seat = seats.sit(host);
      await watch.next(Math.min(leftMs, lookAgainMs), hold.signal);
      const call = await seat.leave();
      if (call !== undefined) return { call };
    }
  } finally {
    watch.end();
  }
};
