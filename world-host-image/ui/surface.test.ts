/** Page of a session at its host: which clients are admitted, what is served, and which secrets the page never gets. */
import { describe, expect, it } from 'vitest';
import { newId } from '#domain/id.ts';
import { Secret } from '#runtime/secret.ts';
import { entryKeyHeader, entryKeyOf } from '#runtime/surface-pass.ts';
import { issues } from '#test/support/host/host-bench.ts';
import { pageFiles, startUiHost } from '#test/support/worlds/ui-world.ts';
import {
  browserKeyHeader,
  browserKeyPurpose,
  browserLinkPath,
} from '#wire/browser-link/exchange.ts';

const entries = async ({ control }: Awaited<ReturnType<typeof startUiHost>>) => {
  const { output } = await control.call('state', undefined, { entity: 'svc_requests' });
  return (output as { rows: Record<string, unknown>[] }).rows;
};

describe('access to a page', () => {
  it('is granted to a browser once by a link, and the cookie is valid for this host only', async () => {
    const { ui, control, sessionId } = await startUiHost();
    control.links.add('lt-two');
    const path = '/.svc/enter?token=lt-two';
    const first = await ui(path, { headers: {} });
    expect(first).toMatchObject({ status: 303, headers: { location: '/' } });
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(
        new RegExp(
          `^svc-pass-${sessionId}=\\d+\\.[\\w-]{43}; Path=/; Max-Age=\\d+; HttpOnly; SameSite=Lax$`,
        ),
      ),
    ]);
    expect(await ui(path, { headers: {} })).toMatchObject({ status: 401, code: 'link_used' });
    const page = await ui(path, { headers: { accept: 'text/html' } });
    expect(page.body).toContain('<p>This link was already used');
    // A browser that has entered may open its link again.
    expect(await ui(path)).toMatchObject({ status: 303 });
  });

  it('is refused to a browser without a pass, and for passes and keys of other sessions', async () => {
    const { ui, cookie, sessionId, host } = await startUiHost();
    expect(await ui('/', { headers: {} })).toMatchObject({ status: 401, code: 'unauthenticated' });
    const [name = '', value = ''] = cookie.split('=');
    for (const made of [`${name}=9999999999.`, `${name}=x`, `svc-pass=${value}`]) {
      expect(await ui('/', { headers: { cookie: made } }), made).toMatchObject({ status: 401 });
    }
    const key = (token: string) => ({ [entryKeyHeader]: entryKeyOf(new Secret(token), 'ui') });
    expect(await ui('/', { headers: key('st-one') })).toMatchObject({ status: 200 });
    expect(await ui('/', { headers: key('st-two') })).toMatchObject({ status: 401 });
    const other = newId('ses');
    const elsewhere = await ui('/', { host: host.replace(sessionId, other) });
    expect(elsewhere).toMatchObject({ status: 410, code: 'closed' });
    expect(elsewhere.body).toContain(`${other} is not served here any more`);
  });

  it('is refused to pages of other origins, for requests and resources', async () => {
    const { ui, cookie, host } = await startUiHost();
    const refused = { status: 403, code: 'foreign_origin' };
    const post = (origin: string) =>
      ui('/__world-api/users', { method: 'POST', headers: { cookie, origin } });
    expect(await post('http://evil.test')).toMatchObject(refused);
    expect(await post('null')).toMatchObject(refused);
    expect((await post(`http://${host}`)).status).not.toBe(403);
    const load = { cookie, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' };
    expect(await ui('/app.js', { headers: load })).toMatchObject(refused);
    const open = { cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect(await ui('/', { headers: open })).toMatchObject({ status: 200 });
  });

  it('ends with the session, and later requests are answered with the reason', async () => {
    const { ui, control, cookie, sessionId } = await startUiHost();
    control.close(true, 'recycle');
    await control.message('reportClosed');
    const page = await ui('/', { headers: { cookie, accept: 'text/html' } });
    expect(page).toMatchObject({ status: 410, headers: { 'cache-control': 'no-store' } });
    expect(page.body).toContain(`${sessionId} is not served here any more`);
    expect(await ui('/.svc/enter?token=lt-late')).toMatchObject({ status: 410 });
  });
});

describe('the API below the page', () => {
  it('is called with the session’s token, which the page never gets', async () => {
    const host = await startUiHost();
    const { ui, cookie } = host;
    const headers = { cookie: `${cookie}; mine=1`, authorization: 'Bearer st-wrong' };
    const listed = await ui(`/__world-api${issues}?state=open`, { headers });
    expect(listed).toMatchObject({ status: 200 });
    expect(JSON.parse(listed.body)).toMatchObject([{ id: 10 }, { id: 11 }]);
    expect(JSON.stringify(listed)).not.toContain('st-one');
    expect(await ui('/__world-api')).toMatchObject({ status: 404 });
    const rows = await entries(host);
    expect(rows.map(({ via, path, status }) => [via, path, status])).toEqual([
      ['ui', issues, 200],
      ['ui', '/', 404],
    ]);
    expect(JSON.stringify(rows)).not.toContain('svc-pass');
  });

  it('answers a protocol upgrade in the world’s form, and closes the connection', async () => {
    const { ui, cookie, host } = await startUiHost();
    const upgrade = {
      cookie,
      origin: `http://${host}`,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'x3JJHMbDL1EzLkh9GBhXDw==',
    };
    expect(await ui('/__world-api/nothing', { headers: upgrade })).toMatchObject({ status: 404 });
    expect(await ui(`/__world-api${issues}`, { headers: upgrade })).toMatchObject({ status: 426 });
  });

  it('accepts bodies within its limit, and has no row of the page after a reset', async () => {
    const host = await startUiHost();
    const { ui, cookie, control } = host;
    const headers = { cookie, 'content-type': 'application/json' };
    const body = JSON.stringify({ title: 'From the page' });
    const created = await ui(`/__world-api${issues}`, { method: 'POST', headers, body });
    expect(created).toMatchObject({ status: 201 });
    const large = await ui(`/__world-api${issues}`, {
      method: 'POST',
      headers,
      body: 'x'.repeat(2 ** 20 + 1),
    });
    expect(large).toMatchObject({ status: 413 });
    await control.call('reset');
    expect(await entries(host)).toEqual([]);
    expect(await ui('/')).toMatchObject({ status: 200, body: pageFiles['index.html'] });
    const left = await ui(`/__world-api${issues}?state=open`);
    expect(left.body).not.toContain('From the page');
  });
});

describe('the host’s own services', () => {
  it('are answered 404 if they are unknown, and their paths never lead to a file of the page', async () => {
    const { ui } = await startUiHost();
    expect(await ui('/__svc/nothing')).toMatchObject({ status: 404 });
    const navigation = await ui('/__svc/nothing', { headers: { accept: 'text/html' } });
    expect(navigation).toMatchObject({ status: 401 });
  });

  it('return the session’s rows to the page', async () => {
    const host = await startUiHost();
    const counts = await host.ui('/__svc/ui/entities');
    expect(counts).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
    expect(counts.body).toContain('"issues"');
    expect((await entries(host)).map(({ via }) => via)).toEqual(['ui']);
  });

  it('accept reports only from the session’s browser, which has a key that no page has', async () => {
    const host = await startUiHost({}, { surfaces: ['api', 'ui', 'browser'] });
    const { ui, cookie } = host;
    const entry = { at: '2026-03-01T09:30:00.000Z', operation: 'navigated', path: '/', detail: {} };
    const report = { generation: 1, resets: 0, first: 0, entries: [entry], answers: [], hold: 0 };
    const say = (key: string | undefined, body: unknown) =>
      ui(browserLinkPath, {
        method: 'POST',
        headers: { cookie, ...(key === undefined ? {} : { [browserKeyHeader]: key }) },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    const keyOf = (token: string, purpose: string = browserKeyPurpose) =>
      new Secret(token).derive(purpose);
    for (const key of [undefined, 'st-one', keyOf('st-two'), keyOf('st-one', 'entry')]) {
      expect((await say(key, report)).status, key).toBe(403);
    }
    const key = keyOf('st-one');
    for (const body of ['', '{', '[]', { ...report, entries: [{ ...entry, at: 7 }] }]) {
      expect((await say(key, body)).status, JSON.stringify(body)).toBe(400);
    }
    expect(await entries(host)).toEqual([]);
    const taken = await say(key, report);
    expect([taken.status, JSON.parse(taken.body)]).toEqual([
      200,
      { resets: 0, taken: 1, orders: [] },
    ]);
    expect(await entries(host)).toMatchObject([{ via: 'browser', operation: 'navigated' }]);
    const without = await startUiHost();
    const headers = { cookie: without.cookie, [browserKeyHeader]: key };
    const body = JSON.stringify(report);
    const unheard = await without.ui(browserLinkPath, { method: 'POST', headers, body });
    expect(unheard.status).toBe(404);
  });
});
