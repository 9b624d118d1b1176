/** Handles the reports and polls of browser hosts. */
import { AppError } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import type { SessionState } from '#domain/session.ts';
import type { BrowserAssignment } from '#wire/host-api/browser-operations.ts';
import {
  findBrowserState,
  findBrowserWork,
  forgetBrowser,
  keepCheckpoint,
  makeBrowserReady,
} from '../../db/sessions/browsers.ts';
import type { SessionHost } from '../../db/sessions/calls.ts';
import { lockHost, type Release, releaseHost } from '../../db/sessions/endings.ts';
import { holdUntil, toMs } from '../../platform/notifications/held-requests.ts';
import { poolTopic, routeTopic } from '../../platform/notifications/notifications.ts';
import { staleHost } from '../calls/directive.ts';
import { usesOf } from '../lifecycle/close.ts';
import type { SessionParts } from '../parts.ts';
import { browserAssignmentOf } from './assignment.ts';

/** States in which a session needs its browser. */
const servedStates: readonly SessionState[] = ['PROVISIONING', 'READY'];

/**
 * Returns the assignment of a browser's host. Returns `waiting` while the session's page is not served yet, and `over`
 * if the session ended before its browser got the assignment.
 */
export const findAssignment = async (
  parts: SessionParts,
  hostId: string,
): Promise<BrowserAssignment | 'waiting' | 'over'> => {
  const work = await findBrowserWork(parts.db, hostId);
  if (work === undefined || !servedStates.includes(work.state)) return 'over';
  if (work.state !== 'READY') return 'waiting';
  return browserAssignmentOf(parts, work) ?? 'waiting';
};

/** Records that the browser of a session accepts clients. */
export const reportBrowserReady = async (
  parts: SessionParts,
  browser: SessionHost,
  address: string | undefined,
): Promise<void> => {
  const readied = await makeBrowserReady(parts.db, browser, address ?? null);
  if (readied === undefined) throw staleHost(browser);
  const { waitedMs, lost } = readied;
  parts.log.info({ ...browser, ...readied }, 'browser ready');
  parts.metrics.browserReadySeconds.observe(
    { start: lost === null ? 'new' : 'again' },
    waitedMs / 1_000,
  );
  parts.notifications.notify(browser.sessionId, routeTopic(browser.sessionId));
};

/** Stores a checkpoint, unless the stored one is newer. */
export const noteCheckpoint = async (
  parts: SessionParts,
  checkpoint: SessionHost & { sequence: number; content: string },
): Promise<void> => {
  if (!(await keepCheckpoint(parts.db, checkpoint))) throw staleHost(checkpoint);
};

export type BrowserPoll = { seconds: number | undefined; signal: AbortSignal };

/** Holds a browser's poll until the session ends. Throws `conflict` if the session is not assigned to this browser. */
export const pollBrowser = async (
  { db, notifications }: SessionParts,
  browser: SessionHost,
  { seconds, signal }: BrowserPoll,
): Promise<{ close?: boolean }> => {
  const look = async (): Promise<{ close: boolean } | undefined> => {
    const state = await findBrowserState(db, browser);
    if (state === undefined) throw staleHost(browser);
    return servedStates.includes(state) ? undefined : { close: true };
  };
  const ms = Math.min(toMs(seconds), limits.pollMs);
  return (await holdUntil(notifications, { topic: browser.sessionId, ms, signal, look })) ?? {};
};

export type BrowserDismissal = { generation: number; next: 'recycle' | 'exit' };

const dismissal = (generation: number, state: Release['to'] | string): BrowserDismissal => ({
  generation,
  next: state === 'recycling' ? 'recycle' : 'exit',
});

/**
 * Records that the browser has ended its session. Returns whether the browser's host recycles or, because it is worn,
 * exits. A repeated report gets the same answer.
 */
export const reportBrowserClosed = async (
  parts: SessionParts,
  browser: SessionHost,
): Promise<BrowserDismissal> => {
  const { sessionId, hostId, generation } = browser;
  const mostUses = usesOf(hostId, parts.config.hostMaxUses);
  const answer = await parts.db.transaction(async (tx) => {
    const state = await findBrowserState(tx, browser);
    const host = await lockHost(tx, hostId);
    if (host === undefined) throw staleHost(browser);
    if (host.generation === generation + 1 && host.sessionId === null) {
      return dismissal(host.generation, host.state);
    }
    if (state === undefined || host.sessionId !== sessionId) throw staleHost(browser);
    if (servedStates.includes(state)) {
      throw new AppError(
        'conflict',
        `${sessionId} is ${state}, and no request to close it was made`,
      );
    }
    const to = host.uses < mostUses ? 'recycling' : 'draining';
    const reason = to === 'draining' ? 'worn' : null;
    const risen = await releaseHost(tx, { hostId, to, reason, detail: null });
    if (risen === undefined) throw staleHost(browser);
    await forgetBrowser(tx, sessionId);
    return dismissal(risen, to);
  });
  parts.notifications.notify(hostId, poolTopic);
  return answer;
};
