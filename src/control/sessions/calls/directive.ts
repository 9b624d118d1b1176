/**
 * Determines the next directive of a session's host: run a call, or stop serving the session. Both the host's long
 * poll and its answers to calls end here.
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
  /** Seconds to hold the poll, as the host requests; limited by `limits.pollMs`. */
  seconds: number | undefined;
  /** True if the host is stopping: the poll is not held, and no new call is handed out. */
  isFinal: boolean;
  signal: AbortSignal;
};

/** A `SessionDirective`, with the input of a call as text. */
export type Directive = { call?: HostCallText; close?: { keepWarm: boolean; together?: true } };

/** Builds the error that makes a host stop: it reports on a session that is not its own. */
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

/** Returns the work that a notification carries, if it is for this host and generation. */
const workOf = (news: NotifiedValues | undefined, host: SessionHost): SessionWork | undefined => {
  const work = news?.work;
  return work?.hostId === host.hostId && work.generation === host.generation ? work : undefined;
};

/**
 * Returns the next directive and holds the poll until there is one. The caller may pass the first look; it runs after
 * the watch begins, so that no notification is missed. Throws `conflict` if the session is not this host's.
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
