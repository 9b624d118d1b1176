/**
 * Plays an agent with a hosted browser: Playwright from the registry gets `cdpUrl` and its token, enters the page of
 * `code-hosting` by a link, and solves the task `close-duplicate` there. The session is already open with its browser.
 */
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Client } from '#wire/client.ts';
import { createSurfaceLink, listSessionRequests } from '#wire/public-api/operations.ts';
import type { SessionView } from '#wire/public-api/sessions/session.ts';
import { call } from '../control/sessions.ts';
import { solveCloseDuplicate } from '../templates/code-hosting-page.ts';
import { browserOf } from './browser-session.ts';
import { visit } from './visit.ts';

const enterByLink = async (client: Client, session: SessionView, page: Page): Promise<void> => {
  await page.context().clearCookies();
  expect((await page.reload())?.status()).toBe(401);
  const params = { sessionId: session.id };
  const { body } = await client.send(createSurfaceLink, { params, body: { surface: 'ui' } });
  await visit(page, body.url);
  await page.getByRole('heading', { name: 'Repositories' }).waitFor();
};

/** Returns the operations by which the page wrote, from the ledger. */
const writtenByPage = async (client: Client, { id }: SessionView): Promise<(string | null)[]> => {
  const query = { limit: 100, via: 'ui' as const };
  const { body } = await client.send(listSessionRequests, { params: { sessionId: id }, query });
  const written = body.data.filter(({ method }) => method !== 'GET');
  return written.map(({ operation }) => operation).sort();
};

/**
 * Solves the task and grades it. `gateway` is the address to which the session's names resolve, `host:port`, for
 * machines that do not resolve these names.
 */
export const solveByBrowser = async (
  client: Client,
  session: SessionView,
  gateway?: string,
): Promise<void> => {
  const { cdpUrl, headers } = browserOf(session);
  const at = new URL(cdpUrl);
  const { host } = at;
  if (gateway !== undefined) at.host = gateway;
  const browser: Browser = await chromium.connectOverCDP(at.href, {
    headers: gateway === undefined ? headers : { ...headers, host },
  });
  try {
    const page = browser.contexts()[0]?.pages()[0];
    if (page === undefined) throw new Error('the browser has no page');
    await page.getByRole('heading', { name: 'Repositories' }).waitFor();
    await enterByLink(client, session, page);
    await solveCloseDuplicate(page);
  } finally {
    await browser.close();
  }
  const { output } = await call(client, session.id, { kind: 'grade' });
  expect(output).toMatchObject({ passed: true });
  await expect
    .poll(() => writtenByPage(client, session), { timeout: 10_000 })
    .toEqual(['add_labels', 'create_comment', 'update_issue']);
};
