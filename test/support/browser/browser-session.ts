/**
 * Sessions with a browser on real programs: opens them, drives them by Playwright, and finds the processes of their
 * browser.
 */
import { type Browser, chromium, type Page } from 'playwright-core';
import { WebSocket } from 'ws';
import { until } from '#runtime/pause.ts';
import { getSession } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import type { Network } from '../programs/network.ts';
import { processIds, processStat, startedFirst } from '../programs/processes.ts';

/** Returns the addresses and headers of a session's browser; throws if it has none. */
export const browserOf = ({ surfaces: { browser } }: SessionView) => {
  if (browser?.cdpUrl === undefined || browser.token === undefined || browser.url === undefined) {
    throw new Error('the session has no browser yet');
  }
  const headers = { authorization: `Bearer ${browser.token}` };
  return { cdpUrl: browser.cdpUrl, url: browser.url, headers };
};

/** Connects Playwright, as a user of the service does, and finds the page. */
export const drive = async (session: SessionView): Promise<{ browser: Browser; page: Page }> => {
  const { cdpUrl, headers } = browserOf(session);
  const browser = await chromium.connectOverCDP(cdpUrl, { headers });
  const page = browser.contexts()[0]?.pages()[0];
  if (page === undefined) throw new Error('the browser has no page');
  return { browser, page };
};

/** Opens a DevTools connection of the session; `code` resolves with the code of its closure. */
export const watchClosing = async (session: SessionView): Promise<{ code: Promise<number> }> => {
  const { cdpUrl, headers } = browserOf(session);
  const socket = new WebSocket(cdpUrl, { headers });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return { code: new Promise((resolve) => socket.once('close', resolve)) };
};

/** Returns the session once all its surfaces answer. */
export const whole = (network: Network, sessionId: string): Promise<SessionView> =>
  until(
    async () => {
      const input = { params: { sessionId }, query: { wait: 5 } };
      const { body } = await network.client.send(getSession, input);
      return body.ready && body;
    },
    { timeoutMs: 30_000, what: 'the session to be whole again' },
  );

/** Returns the process id of the program that is a session's browser. */
export const programOf = async (network: Network, sessionId: string): Promise<number> => {
  const [row] = await network.sql<{ runtime_id: string }>(
    `select h.runtime_id from session_browsers b join hosts h on h.id = b.host_id where b.session_id = $1`,
    [sessionId],
  );
  if (row === undefined) throw new Error('no browser serves the session');
  return Number(row.runtime_id);
};

/**
 * Returns the process id of the Chromium that a program has started. If there are several, it is the first one, as a
 * spare Chromium starts later.
 */
export const chromiumOf = (program: number): number => {
  const chromium = startedFirst(processIds().filter((pid) => processStat(pid)?.parent === program));
  if (chromium === undefined) throw new Error('the program runs no Chromium');
  return chromium.pid;
};
