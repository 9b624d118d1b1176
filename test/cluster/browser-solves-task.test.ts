/**
 * An agent with a hosted browser, on real programs and a real Chromium: Playwright as it comes from the registry is
 * given `cdpUrl` and its token, solves a task in the page of `code-hosting`, and the grade passes.
 */
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorld, listSessionRequests } from '#wire/public-api/operations.ts';
import { solveCloseDuplicate } from '../support/code-hosting-page.ts';
import { type Network, startNetwork } from '../support/network.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { call, close, open } from '../support/sessions.ts';

let database: TestDatabase;
let network: Network;

beforeAll(async () => {
  database = await testDatabase();
  const env = { SVC_BROWSER_POOL_SIZE: '1' };
  network = await startNetwork({ databaseUrl: database.url, poolSize: 1, poolMax: 2, env });
  await network.client.send(createWorld, { body: { slug: 'hub', from: 'code-hosting' } });
  await network.warm(2);
}, 180_000);

afterAll(async () => {
  await network.stop();
  await database.drop();
});

it('solves a task through the page alone', async () => {
  const { client } = network;
  const surfaces: ('ui' | 'browser')[] = ['ui', 'browser'];
  const session = await open(client, { slug: 'hub', task: 'close-duplicate', surfaces });
  const { cdpUrl = '', token } = session.surfaces.browser ?? {};
  const headers = { authorization: `Bearer ${token}` };
  const browser = await chromium.connectOverCDP(cdpUrl, { headers });
  const [page] = browser.contexts()[0]?.pages() ?? [];
  if (page === undefined) throw new Error('the browser has no page');
  await page.getByRole('heading', { name: 'Repositories' }).waitFor();
  await solveCloseDuplicate(page);
  await browser.close();
  const { output } = await call(client, session.id, { kind: 'grade' });
  expect(output).toMatchObject({ passed: true });
  // The ledger is delivered a moment after what it tells of.
  const written = async () => {
    const query = { limit: 100, via: 'ui' as const };
    const { body } = await client.send(listSessionRequests, {
      params: { sessionId: session.id },
      query,
    });
    return body.data
      .filter(({ method }) => method !== 'GET')
      .map(({ operation }) => operation)
      .sort();
  };
  await expect
    .poll(written, { timeout: 10_000 })
    .toEqual(['add_labels', 'create_comment', 'update_issue']);
  await close(client, session.id);
}, 120_000);
