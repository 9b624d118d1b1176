/** Tests access to surfaces for people: a one-time link, a cookie, and refusals for clients that have neither. */
import type { RequestListener } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '#runtime/pause.ts';
import { ask, httpsTemplate, startTestGateway } from '../../support/gateway/gateway.ts';

const gateway = await startTestGateway({ template: httpsTemplate, trustedHops: 1 });
const id = await gateway.serve((request, response) => {
  response.end(JSON.stringify({ cookie: request.headers.cookie ?? null, url: request.url }));
}, 'ui');
const origin = `https://${gateway.hostOf(id, 'ui')}`;

afterAll(() => gateway.stop());

const asUi = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  ask(gateway.port, { host: gateway.hostOf(id, 'ui'), path, headers, method });

const enter = async (): Promise<string> => {
  gateway.control.links.add('lt-1');
  const { headers } = await asUi('/.svc/enter?token=lt-1');
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
};

describe('a one-time link', () => {
  it('admits a browser once, with a cookie for this host alone', async () => {
    gateway.control.links.add('lt-2');
    const first = await asUi('/.svc/enter?token=lt-2');
    expect(first).toMatchObject({ status: 303, headers: { location: '/' } });
    expect(first.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-svc-pass-ses-\w+=\d+\.[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
    const second = await asUi('/.svc/enter?token=lt-2');
    expect(second).toMatchObject({ status: 401, code: 'link_used' });
    expect(second.headers['set-cookie']).toBeUndefined();
  });

  it('that is used up still admits a browser with a valid pass', async () => {
    const cookie = await enter();
    const again = await asUi('/.svc/enter?token=lt-1', { cookie });
    expect(again).toMatchObject({ status: 303, headers: { location: '/' } });
    expect(again.headers['set-cookie']).toBeUndefined();
  });

  it('is not used up by a HEAD request', async () => {
    gateway.control.links.add('lt-3');
    expect(await asUi('/.svc/enter?token=lt-3', {}, 'HEAD')).toMatchObject({ status: 405 });
    expect(gateway.control.links.has('lt-3')).toBe(true);
  });

  it.each(['/.svc/enter', '/.svc/enter?token=', '/.svc/enter?token=lt-no'])(
    'such as %s admits no browser',
    async (path) => {
      expect(await asUi(path)).toMatchObject({ status: 401, code: 'link_used' });
    },
  );
});

describe('an admitted browser', () => {
  it('is served, and the host does not see its cookie', async () => {
    const pass = await enter();
    const alone = await asUi('/page', { cookie: pass });
    expect(JSON.parse(alone.body)).toEqual({ cookie: null, url: '/page' });
    const among = await asUi('/page', { cookie: `a=1; ${pass}; b=2` });
    expect(JSON.parse(among.body)).toEqual({ cookie: 'a=1; b=2', url: '/page' });
  });

  it('reaches the host with the key of the session, which no client can supply', async () => {
    const seen: unknown[] = [];
    const note: RequestListener = ({ headers }, response) => {
      seen.push(headers['svc-entry-key']);
      response.end();
    };
    const [page, api] = [await gateway.serve(note, 'ui'), await gateway.serve(note, 'api')];
    for (const one of [page, api]) gateway.control.change(one, { entryKeys: { ui: 'key-1' } });
    gateway.control.links.add('lt-key');
    const host = gateway.hostOf(page, 'ui');
    const entered = await ask(gateway.port, { host, path: '/.svc/enter?token=lt-key' });
    const cookie = entered.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const own = { 'svc-entry-key': 'mine' };
    await ask(gateway.port, { host, headers: { cookie, ...own } });
    await ask(gateway.port, { host: gateway.hostOf(api, 'api'), headers: own });
    expect(seen).toEqual(['key-1', undefined]);
  });

  it('may send changes only from pages of the same origin', async () => {
    const cookie = await enter();
    expect(await asUi('/', { cookie, origin }, 'POST')).toMatchObject({ status: 200 });
    for (const foreign of ['null', 'https://evil.test', origin.replace('--ui', '--api')]) {
      const answer = await asUi('/', { cookie, origin: foreign }, 'POST');
      expect(answer).toMatchObject({ status: 403, code: 'foreign_origin' });
      const socket = { cookie, origin: foreign, connection: 'Upgrade', upgrade: 'websocket' };
      expect(await asUi('/', socket)).toMatchObject({ status: 403 });
    }
    const unnamed = { cookie, 'sec-fetch-site': 'same-site' };
    const answer = await asUi('/', unnamed, 'POST');
    expect(answer).toMatchObject({ status: 403, code: 'foreign_origin' });
  });
});

describe('a client without a pass', () => {
  it('is refused with a page, or with JSON if it is a program', async () => {
    const page = await asUi('/page', { accept: 'text/html,*/*' });
    expect(page).toMatchObject({ status: 401, headers: { 'cache-control': 'no-store' } });
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.body).toContain(`${id} can be opened only by a one-time link`);
    const closed = { 'connection-allowlist': '(response-origin); redirects=allow' };
    expect(page.headers).toMatchObject(closed);
    const json = await asUi('/page');
    expect(json).toMatchObject({ status: 401, code: 'unauthenticated', headers: closed });
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
    expect(await asUi('/', upgrade)).toMatchObject({ status: 401 });
  });

  it('sees the state of the session on a page that reloads itself', async () => {
    const cookie = await enter();
    gateway.control.change(id, { state: 'PROVISIONING' });
    const headers = { cookie, accept: 'text/html' };
    const page = await until(
      async () => {
        const answer = await asUi('/', headers);
        return answer.status === 503 ? answer : undefined;
      },
      { timeoutMs: 30_000, what: 'the page' },
    );
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.body).toContain('is being started');
    expect(page.body).toContain('<meta http-equiv="refresh" content="1">');
    gateway.control.change(id, { state: 'READY' });
    await until(async () => (await asUi('/', headers)).status === 200, {
      timeoutMs: 30_000,
      what: 'the surface',
    });
  });

  it('is refused with a forged pass or one of another session', async () => {
    const pass = await enter();
    const other = await gateway.serve((_, response) => response.end('other'), 'ui');
    const elsewhere = { host: gateway.hostOf(other, 'ui'), headers: { cookie: pass } };
    expect(await ask(gateway.port, elsewhere)).toMatchObject({ status: 401 });
    const [name, until = '', signature] = pass.split(/[=.]/);
    const later = `${name}=${Number(until) + 1}.${signature}`;
    for (const cookie of [later, `${name}=`, `${name}=9999999999.`, `${name}=x.y`]) {
      expect(await asUi('/', { cookie }), cookie).toMatchObject({ status: 401 });
    }
  });
});

describe('behind a trusted proxy', () => {
  it('the gateway trusts only what the last proxy added to forwarding headers', async () => {
    const seen: Record<string, unknown>[] = [];
    const api = await gateway.serve((request, response) => {
      seen.push(request.headers);
      response.end();
    });
    const headers = {
      'x-forwarded-for': '6.6.6.6, 2001:db8::1',
      'x-forwarded-proto': 'http, https',
    };
    const host = gateway.hostOf(api);
    await ask(gateway.port, { host, headers });
    expect(seen[0]).toMatchObject({
      'x-forwarded-for': '2001:db8::1, 127.0.0.1',
      'x-forwarded-proto': 'https',
      forwarded: `for="[2001:db8::1]";host="${host}";proto=https, for=127.0.0.1`,
    });
  });
});
