/**
 * Determines the next directive of a session's host: run a call, or stop serving the session. It is returned to the
 * host's long poll, and with the response to each call result that the host posts.
 */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { sessionTransitions } from '#domain/session.ts';
import { isFinal } from '#domain/transitions.ts';
import type { SessionHost } from '../../db/sessions/calls.ts';
import { claimCall, type SessionWork } from '../../db/sessions/host-calls.ts';
import { holdUntil, toMs } from '../../platform/notifications/held-requests.ts';
import type { NotifiedValues } from '../../platform/notifications/notifications.ts';
import type { SessionParts } from '../parts.ts';
import { type HostCallText, toHostCall } from '../scheduling/waiting-hosts.ts';

export type CallPoll = {
  /** Seconds that the host asks to hold the poll, at most `limits.pollMs`; if undefined, the poll is not held. */
  seconds: number | undefined;
  /** True if the host is stopping: the poll is not held, and no new call is handed out. */
  isFinal: boolean;
  signal: AbortSignal;
};

/** A `SessionDirective` whose call has its input as JSON text. */
export type Directive = { call?: HostCallText; close?: { keepWarm: boolean; together?: true } };

/**
 * Builds the error for a host that reports on a session which it does not serve. The host stops when it gets this
 * error.
 */
export const staleHost = (host: SessionHost): AppError =>
  new AppError(
    'conflict',
    `${host.hostId} of generation ${host.generation} does not serve ${host.sessionId}`,
  );

const toDirective = (work: SessionWork | undefined, host: SessionHost): Directive | undefined => {
  if (work === undefined || isFinal(sessionTransitions, work.state)) throw staleHost(host);
  if (work.call !== undefined) return { call: toHostCall(work.call) };
  const { keepWarm } = work;
  if (work.state === 'CLOSING') return { close: { keepWarm, ...(keepWarm && { together: true }) } };
  return undefined;
};

/** Returns the work in a notification if it is meant for this host and generation. */
const workOf = (news: NotifiedValues | undefined, host: SessionHost): SessionWork | undefined => {
  const work = news?.work;
  return work?.hostId === host.hostId && work.generation === host.generation ? work : undefined;
};

/**
 * Returns the next directive; if there is none yet, holds the poll until there is. The caller may pass the first query
 * for work as `firstLook`. It runs after the process listens for notifications, so none is missed. Throws `conflict` if
 * the host does not serve the session.
 */
export const nextDirective = async (
  { db, notifications, waitingHosts }: SessionParts,
  host: SessionHost,
  hold: CallPoll,
  firstLook?: () => Promise<SessionWork | undefined>,
): Promise<Directive> => {
  const claim = () => claimCall(db, host, hold.isFinal);
  let next = firstLook ?? claim;
  const directive = await holdUntil(notifications, {
    topic: host.sessionId,
    ms: hold.isFinal ? 0 : Math.min(toMs(hold.seconds), limits.pollMs),
    signal: hold.signal,
    look: async (news) => {
      const work = workOf(news, host) ?? (await next());
      next = claim;
      return toDirective(work, host);
    },
    rest: async (wait) => {
      const registration = waitingHosts.register(host);
      await wait();
      const call = await registration.leave();
      return call === undefined ? undefined : { call };
    },
  });
  return directive ?? {};
};
