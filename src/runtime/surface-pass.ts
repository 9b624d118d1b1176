/**
 * Passes for surfaces that people open in a browser. A browser that was admitted gets a cookie, signed for one surface
 * of one session; a host recognises a gateway by a key that is derived from the session. Gateways sign cookies with the
 * token that they share, hosts with the token of their session, so that each can check its cookies without a request.
 */
import type { SurfaceKind } from '#domain/session.ts';
import type { SurfaceTemplate } from '#domain/surface-address.ts';
import { Secret } from './secret.ts';

export type Surface = {
  sessionId: string;
  surface: SurfaceKind;
  /** True if the pass permits viewing only. */
  isReadOnly?: boolean;
};

/** Path of one-time links, which end in `?token=`. */
export const enterPath = '/.svc/enter';

/**
 * Header with the key by which a host recognises a gateway, see `entryKeyOf`. Gateways never forward this header from a
 * client.
 */
export const entryKeyHeader = 'svc-entry-key';

/**
 * Returns the key that the host of a session demands from a gateway at a surface for people. It is derived from the
 * session's token.
 */
export const entryKeyOf = (sessionToken: Secret, surface: SurfaceKind): string =>
  sessionToken.derive(`entry:${surface}`);

const cookiePrefix = 'svc-pass-';

/** Returns true if a cookie of this name is a pass, of whichever session. */
export const isPassCookie = (name: string): boolean =>
  name.replace(/^__Host-/i, '').startsWith(cookiePrefix);

export type Passes = {
  /**
   * Returns the name of the cookie, which includes the session. Browsers restrict `__Host-` cookies to one host, https,
   * and the whole path.
   */
  cookieName(sessionId: string): string;
  /** Returns the `Set-Cookie` value for a browser that was admitted. */
  issue(surface: Surface): string;
  /** Returns true if the `Cookie` header of a request has a valid pass for this surface. */
  check(surface: Surface, cookies: string | undefined): boolean;
};

export type PassesOptions = {
  token: Secret;
  scheme: SurfaceTemplate['scheme'];
  /** Returns the present time in milliseconds since 1970. */
  now?: () => number;
};

const lifeS = 12 * 3_600;

/** Creates the signer and verifier of passes. */
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
