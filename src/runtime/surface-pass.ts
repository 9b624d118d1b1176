/**
 * Who may use a surface that people open: a browser that entered it is known again by a cookie, signed for one
 * surface of one session; a gateway that has let somebody in is known to the host by a key of the session. Gateways
 * sign cookies with what they all share, hosts with the token of their session, so that each can check without asking.
 */
import type { SurfaceKind } from '#domain/session.ts';
import type { SurfaceTemplate } from '#domain/surface-address.ts';
import { Secret } from './secret.ts';

export type Surface = {
  sessionId: string;
  surface: SurfaceKind;
  /** Whether it may be looked at alone. */
  isReadOnly?: boolean;
};

/** Where a one-time link leads, with `?token=`. */
export const enterPath = '/.svc/enter';

/** The header in which a gateway shows the key of a surface to its host; no client's ever gets there. */
export const entryKeyHeader = 'svc-entry-key';

/** What the host of a session asks of a gateway at a surface for people, made of the session's token. */
export const entryKeyOf = (sessionToken: Secret, surface: SurfaceKind): string =>
  sessionToken.derive(`entry:${surface}`);

const cookiePrefix = 'svc-pass-';

/** Whether a cookie of this name is a pass, of whatever session. */
export const isPassCookie = (name: string): boolean =>
  name.replace(/^__Host-/i, '').startsWith(cookiePrefix);

export type Passes = {
  /** The cookie's name, with the session in it. Browsers hold `__Host-` cookies to one host, https, and the whole path. */
  cookieName(sessionId: string): string;
  /** `Set-Cookie` for somebody who was let in. */
  issue(surface: Surface): string;
  /** Whether the `Cookie` header of a request has a pass of this surface that is still good. */
  check(surface: Surface, cookies: string | undefined): boolean;
};

export type PassesOptions = {
  token: Secret;
  scheme: SurfaceTemplate['scheme'];
  /** Milliseconds since 1970. */
  now?: () => number;
};

const lifeS = 12 * 3_600;

/** Makes and checks passes. */
export const createPasses = ({ token, scheme, now = Date.now }: PassesOptions): Passes => {
  const isSecure = scheme === 'https';
  const cookieName = (sessionId: string): string =>
    `${isSecure ? '__Host-' : ''}${cookiePrefix}${sessionId}`;
  const sign = ({ sessionId, surface, isReadOnly }: Surface, until: string, by = token): string =>
    by.derive(`pass:${sessionId}:${surface}${isReadOnly === true ? ':read' : ''}:${until}`);

  const isGood = (surface: Surface, value: string): boolean => {
    const [until = '', signature = ''] = value.split('.');
    const isOurs = token
      .each()
      .some((one) => new Secret(sign(surface, until, one)).matches(signature));
    return Number(until) * 1_000 > now() && isOurs;
  };

  return {
    cookieName,
    issue(surface) {
      const until = String(Math.floor(now() / 1_000) + lifeS);
      const value = `${cookieName(surface.sessionId)}=${until}.${sign(surface, until)}`;
      const secure = isSecure ? '; Secure' : '';
      return `${value}; Path=/; Max-Age=${lifeS}; HttpOnly; SameSite=Lax${secure}`;
    },
    check(surface, cookies) {
      const start = `${cookieName(surface.sessionId)}=`;
      return (cookies ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(start))
        .some((pair) => isGood(surface, pair.slice(start.length)));
    },
  };
};
