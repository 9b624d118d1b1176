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
      if (isAway) throw new Error('nobody answers');
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
  of.letIn(isReadOnly).split(';')[0] ?? '';

describe('before a session', () => {
  it('nobody comes in, and no link is used up', async () => {
    expect(await access.redeem('see', 'view')).toBeUndefined();
    expect(access.hasToken('Bearer bt-secret')).toBe(false);
    expect(access.passOf('svc-pass-ses-a=1.x')).toBeUndefined();
    expect(() => access.letIn(false)).toThrow('no session');
    expect(asked).toEqual([]);
  });
});

describe('during a session', () => {
  beforeEach(() => access.begin(session));

  it('a link opens what it is for, once', async () => {
    expect(await access.redeem('see', 'view')).toEqual({ for: 'view', isReadOnly: true });
    expect(await access.redeem('see-and-act', 'view')).toEqual({ for: 'view', isReadOnly: false });
    expect(await access.redeem('drive', 'cdp')).toEqual({ for: 'cdp' });
    expect(await access.redeem('drive', 'cdp')).toBeUndefined();
    expect(asked[0]).toBe('ses-a see');
  });

  it('a link for one thing does not open another', async () => {
    expect(await access.redeem('see', 'cdp')).toBeUndefined();
    expect(await access.redeem('drive', 'view')).toBeUndefined();
  });

  it.each(['', 'x'.repeat(201)])('what cannot be a link is asked of nobody', async (text) => {
    expect(await access.redeem(text, 'view')).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('a link that cannot be checked may be tried again', async () => {
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
  ])('with %s, DevTools open: %s is %s', (_, header, isIn) => {
    expect(access.hasToken(header)).toBe(isIn);
  });

  it('a pass says what its holder may do', () => {
    expect(access.passOf(cookieOf(false))).toEqual({ isReadOnly: false });
    expect(access.passOf(`other=1; ${cookieOf(true)}`)).toEqual({ isReadOnly: true });
    expect(access.passOf(`${cookieOf(true)}0`)).toBeUndefined();
    expect(access.passOf(undefined)).toBeUndefined();
  });

  it("a pass is good at the session's next browser, and at no other's", () => {
    const pass = cookieOf(false);
    const next = make();
    next.begin(session);
    expect(next.passOf(pass)).toEqual({ isReadOnly: false });
    next.begin({ ...session, token: 'bt-other' });
    expect(next.passOf(pass)).toBeUndefined();
    next.begin({ ...session, sessionId: 'ses-b' });
    expect(next.passOf(pass.replace('ses-a', 'ses-b'))).toBeUndefined();
  });

  it('its end puts everybody out', async () => {
    const pass = cookieOf(false);
    access.end();
    expect(access.passOf(pass)).toBeUndefined();
    expect(access.hasToken('Bearer bt-secret')).toBe(false);
    expect(await access.redeem('see', 'view')).toBeUndefined();
  });
});
