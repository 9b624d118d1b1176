/**
 * Tests a session with a browser on real programs and a real Chromium. It is opened, driven by an unmodified client,
 * viewed and reset, and it continues after the loss of each part.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createSurfaceLink,
  createWorld,
  listSessionRequests,
} from '#wire/public-api/operations.ts';
import {
  browserOf,
  chromiumOf,
  drive,
  programOf,
  watchClosing,
  whole,
} from '../../support/browser/browser-session.ts';
import { solveByBrowser } from '../../support/browser/solve-by-browser.ts';
import { call, close, open } from '../../support/control/sessions.ts';
import { type TestDatabase, testDatabase } from '../../support/database/postgres.ts';
import { type Network, startNetwork } from '../../support/programs/network.ts';
import { pageWorld } from '../../support/worlds/page-world.ts';
import { encodeTree } from '../../support/worlds/worlds.ts';

let database: TestDatabase;
let network: Network;

beforeAll(async () => {
  database = await testDatabase();
  const env = { SVC_BROWSER_POOL_SIZE: '1', SVC_CHECKPOINT_MS: '200' };
  network = await startNetwork({ databaseUrl: database.url, poolSize: 1, poolMax: 3, env });
  const from = encodeTree(pageWorld());
  await network.client.send(createWorld, { body: { slug: 'notes', from } });
  await network.client.send(createWorld, { body: { slug: 'hub', from: 'code-hosting' } });
  await network.warm(2);
});

afterAll(async () => {
  await network.stop();
  await database.drop();
});

const openNotes = () => open(network.client, { slug: 'notes', surfaces: ['browser'] });

const ledger = async (sessionId: string) => {
  const input = { params: { sessionId }, query: { limit: 100 } };
  return (await network.client.send(listSessionRequests, input)).body.data;
};

it('a session’s browser is driven by Playwright on its page, and its actions are in the ledger', async () => {
  const session = await openNotes();
  expect(session).toMatchObject({ ready: true, surfaces: { browser: { tier: 'standard' } } });
  const { browser, page } = await drive(session);
  expect(await page.title()).toBe('Notes');
  await page.getByLabel('Title').fill('written in a browser');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByText('written in a browser').waitFor();
  const state = await call(network.client, session.id, {
    kind: 'state',
    input: { entity: 'notes' },
  });
  expect(JSON.stringify(state.output)).toContain('written in a browser');
  const picture = await call(network.client, session.id, { kind: 'screenshot' });
  const { base64 } = picture.output as { base64: string };
  expect(Buffer.from(base64, 'base64').subarray(1, 4).toString()).toBe('PNG');
  const noted = async () => {
    const entries = await ledger(session.id);
    return entries.filter(({ via }) => via === 'browser').map(({ operation }) => operation);
  };
  await expect.poll(noted, { timeout: 10_000 }).toContain('navigated');
  await browser.close();
  expect((await close(network.client, session.id)).state).toBe('CLOSED');
});

it('a session’s browser is enough for an agent to solve a task', async () => {
  const session = await open(network.client, {
    ...{ slug: 'hub', task: 'close-duplicate' },
    surfaces: ['ui', 'browser'],
  });
  await solveByBrowser(network.client, session);
  await close(network.client, session.id);
});

it('a session’s browser is viewed once by a link, and refuses any other access', async () => {
  const session = await openNotes();
  const { body } = await network.client.send(createSurfaceLink, {
    params: { sessionId: session.id },
    body: { surface: 'browser', opens: 'view' },
  });
  // Names below localhost lead to this machine, but Node does not resolve them.
  const { port, host, pathname, search } = new URL(body.url);
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      redirect: 'manual',
      headers: { ...headers, 'x-of': host },
    });
  const entered = await ask(`${pathname}${search}`);
  expect([entered.status, entered.headers.get('location')]).toEqual([303, '/view']);
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  expect((await ask('/view', { cookie })).status).toBe(200);
  expect((await ask(`${pathname}${search}`)).status).toBe(401);
  expect((await ask('/view')).status).toBe(401);
  const { cdpUrl } = browserOf(session);
  const other = await openNotes();
  const foreign = {
    ...session,
    surfaces: {
      browser: {
        ...session.surfaces.browser,
        token: browserOf(other).headers.authorization.slice(7),
      },
    },
  };
  await expect(watchClosing(foreign as never)).rejects.toThrow('401');
  expect(cdpUrl).not.toBe(browserOf(other).cdpUrl);
  await Promise.all([close(network.client, session.id), close(network.client, other.id)]);
});

it('a session’s browser restarts with a reset, and the reset is answered after the restart', async () => {
  const session = await openNotes();
  const { page } = await drive(session);
  await page.evaluate(() => localStorage.setItem('left', 'behind'));
  const closing = await watchClosing(session);
  const reset = await call(network.client, session.id, { kind: 'reset' });
  expect(reset.state).toBe('succeeded');
  expect(await closing.code).toBe(4_001);
  const again = await drive(await whole(network, session.id));
  expect(await again.page.title()).toBe('Notes');
  expect(await again.page.evaluate(() => localStorage.getItem('left'))).toBeNull();
  await again.browser.close();
  await close(network.client, session.id);
});

const losses: [string, number, (sessionId: string) => Promise<void>][] = [
  [
    'its Chromium is killed',
    4_000,
    async (id) => void process.kill(chromiumOf(await programOf(network, id)), 'SIGKILL'),
  ],
  [
    'its host is killed',
    1_006,
    async (id) => void process.kill(-(await programOf(network, id)), 'SIGKILL'),
  ],
  [
    'its host is taken away with notice',
    4_003,
    async (id) => void process.kill(await programOf(network, id), 'SIGTERM'),
  ],
];

it.each(losses)(
  'a session’s browser continues at the same address when %s',
  async (_, code, lose) => {
    const session = await openNotes();
    const { page } = await drive(session);
    await page.evaluate(() => localStorage.setItem('kept', 'yes'));
    const kept = () =>
      network.sql<{ content: string }>(
        `select content from browser_checkpoints where session_id = $1 and content like '%kept%'`,
        [session.id],
      );
    await expect.poll(kept, { timeout: 10_000 }).toHaveLength(1);
    const closing = await watchClosing(session);
    await lose(session.id);
    expect(await closing.code).toBe(code);
    await expect
      .poll(
        async () => {
          const again = await drive(await whole(network, session.id));
          const found = await again.page.evaluate(() => localStorage.getItem('kept'));
          await again.browser.close();
          return found;
        },
        { timeout: 30_000 },
      )
      .toBe('yes');
    expect(browserOf(await whole(network, session.id)).cdpUrl).toBe(browserOf(session).cdpUrl);
    const word = code === 4_000 ? 'restored' : 'reclaimed';
    await expect
      .poll(async () => (await ledger(session.id)).map(({ operation }) => operation), {
        timeout: 10_000,
      })
      .toContain(word);
    await close(network.client, session.id);
  },
);
