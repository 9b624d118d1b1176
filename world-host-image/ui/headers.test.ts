import { describe, expect, it } from 'vitest';
import { browserLinkPath } from '#wire/browser-link/exchange.ts';
import { startUiHost } from '../../test/support/worlds/ui-world.ts';
import { withOriginHeaders } from './headers.ts';

const host = 'ses-a--ui.worlds.test';
const answer = (status: number, headers: Record<string, string>) =>
  withOriginHeaders({ status, headers, body: null }, 'data', host).headers;

describe('an answer of the world at the page’s origin', () => {
  it.each([
    'https://evil.test/x',
    '//evil.test/x',
    '/\\evil.test',
    'https://ses-b--ui.worlds.test/',
  ])('loses its location header if it redirects to %s, which leaves the origin', (location) => {
    expect(answer(302, { location })).not.toHaveProperty('location');
  });

  it.each(['/board', 'board', `https://${host}/board`, `http://${host}/board`])(
    'keeps its location header if it redirects to %s',
    (location) => {
      expect(answer(302, { location })).toMatchObject({ location });
    },
  );

  it('has no header that makes a browser send reports to, or load, another URL', () => {
    const asked = {
      refresh: '0;url=https://evil.test',
      'reporting-endpoints': 'x="https://evil.test"',
      nel: '{}',
      link: '</next>; rel="next"',
    };
    const kept = answer(200, asked);
    expect(Object.keys(asked).filter((name) => name in kept)).toEqual(['link']);
  });
});

it('every document at the page’s origin has a strict content security policy, also refusals and errors, because the page could inject scripts into them', async () => {
  const { ui, cookie } = await startUiHost();
  const asked = [
    ...['/', '/app.js', '/docs', '/nothing', '/__svc/nothing', browserLinkPath, '/__world-api'],
    ...['/__svc/ui/entities', '/.svc/enter?token=lt-none', '/%zz'],
  ];
  for (const path of asked) {
    for (const accept of ['text/html', 'application/json']) {
      for (const headers of [{ cookie, accept }, { accept }]) {
        const { status, headers: given } = await ui(path, { headers });
        if (status === 303) continue; // a redirect has no document
        expect(given, `${path} ${status}`).toMatchObject({
          'connection-allowlist': '(response-origin); redirects=allow',
          'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
          'cross-origin-opener-policy': 'same-origin',
        });
      }
    }
  }
});
