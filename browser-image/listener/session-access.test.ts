import { beforeEach, describe, expect, it } from 'vitest';
import type { LinkScope } from '#domain/session.ts';
import { createLog } from '#runtime/log.ts';
import { createSessionAccess, type SessionAccess } from './session-access.ts';

/** Links that are valid once, by their token. */
let links: Map<string, LinkScope>;
let asked: string[];
let isAway: boolean;
let access: SessionAccess;

const session = { sessionId: 'ses-a', token: 'bt-secret', scheme: 'http' } as const;

const make = (): SessionAccess =>
  createSessionAccess({
    async consumeLink(sessionId, token) {
      asked.push(`${sessionId} ${token}`);
      if (isAway) throw new Error('there is no answer');
      const scope = links.get(token);
      links.delete(token);
      return scope;
    },
    log: createLog('browser', 'silent'),
  });

beforeEach(() => {
  links = new Map([
    ['see-and-act', 'all'],
    ['see', 'view'],
    ['drive', 'devtools'],
  ]);
  asked = [];
  isAway = false;
  access = make();
});

/** Returns the cookie that an admitted viewer sends from then on. */
const cookieOf = (isReadOnly: boolean, of = access): string =>
  of.issuePass(isReadOnly).split(';')[0] ?? '';

describe('access before a session', () => {
  it('is denied to every client, and uses up no link', async () => {
    expect(await access.redeem('see', 'view')).toBeUndefined();
    expect(access.hasToken('Bearer bt-secret')).toBe(false);
    expect(access.passOf('svc-pass-ses-a=1.x')).toBeUndefined();
    expect(() => access.issuePass(false)).toThrow('no session');
    expect(asked).toEqual([]);
  });
});

describe('access during a session', () => {
  beforeEach(() => access.begin(session));

  it('is granted once by a link, to the page that the link is for', async () => {
    expect(await access.redeem('see', 'view')).toEqual({ for: 'view', isReadOnly: true });
    expect(await access.redeem('see-and-act', 'view')).toEqual({ for: 'view', isReadOnly: false });
    expect(await access.redeem('drive', 'cdp')).toEqual({ for: 'cdp' });
    expect(await access.redeem('drive', 'cdp')).toBeUndefined();
    expect(asked[0]).toBe('ses-a see');
  });

  it('is denied by a link that is for another page', async () => {
    expect(await access.redeem('see', 'cdp')).toBeUndefined();
    expect(await access.redeem('drive', 'view')).toBeUndefined();
  });

  it.each(['', 'x'.repeat(201)])(
    'is denied without a request when the text cannot be a link',
    async (text) => {
      expect(await access.redeem(text, 'view')).toBeUndefined();
      expect(asked).toEqual([]);
    },
  );

  it('is granted on a second try by a link that could not be checked at first', async () => {
    isAway = true;
    await expect(access.redeem('see', 'view')).rejects.toMatchObject({ code: 'unavailable' });
    isAway = false;
    expect(await access.redeem('see', 'view')).toBeDefined();
  });

  it.each([
    ['the token', 'Bearer bt-secret', true],
    ['the token, whatever the case of the word', 'bearer  bt-secret', true],
    ['another token', 'Bearer bt-secres', false],
    ['the token and more', 'Bearer bt-secret more', false],
    ['the token in another scheme', 'Basic bt-secret', false],
    ['an empty one', 'Bearer ', false],
    ['none', undefined, false],
  ])('with %s, the header %s opens DevTools: %s', (_, header, isIn) => {
    expect(access.hasToken(header)).toBe(isIn);
  });

  it('is granted by a pass with the rights that the pass names', () => {
    expect(access.passOf(cookieOf(false))).toEqual({ isReadOnly: false });
    expect(access.passOf(`other=1; ${cookieOf(true)}`)).toEqual({ isReadOnly: true });
    expect(access.passOf(`${cookieOf(true)}0`)).toBeUndefined();
    expect(access.passOf(undefined)).toBeUndefined();
  });

  it("is granted by a pass at the session's next browser, and denied at another session's", () => {
    const pass = cookieOf(false);
    const next = make();
    next.begin(session);
    expect(next.passOf(pass)).toEqual({ isReadOnly: false });
    next.begin({ ...session, token: 'bt-other' });
    expect(next.passOf(pass)).toBeUndefined();
    next.begin({ ...session, sessionId: 'ses-b' });
    expect(next.passOf(pass.replace('ses-a', 'ses-b'))).toBeUndefined();
  });

  it('is withdrawn from all clients when the session ends', async () => {
    const pass = cookieOf(false);
    access.end();
    expect(access.passOf(pass)).toBeUndefined();
    expect(access.hasToken('Bearer bt-secret')).toBe(false);
    expect(await access.redeem('see', 'view')).toBeUndefined();
  });
});
