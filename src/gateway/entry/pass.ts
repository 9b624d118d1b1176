/**
 * The cookie by which a browser that entered a surface is known again. It is signed for one surface of
 * one session with what all gateways share, so that each of them can check it without asking.
 */
import type { SurfaceKind } from '#domain/session.ts';
import type { SurfaceTemplate } from '#domain/surface-address.ts';
import { Secret } from '#runtime/secret.ts';

export type Surface = { sessionId: string; surface: SurfaceKind };

export type Passes = {
  /** The cookie's name. Browsers hold `__Host-` cookies to one host, https, and the whole path. */
  cookieName: string;
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
  const cookieName = isSecure ? '__Host-svc-pass' : 'svc-pass';
  const sign = ({ sessionId, surface }: Surface, until: string, by = token): string =>
    by.derive(`pass:${sessionId}:${surface}:${until}`);

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
      const value = `${cookieName}=${until}.${sign(surface, until)}`;
      const secure = isSecure ? '; Secure' : '';
      return `${value}; Path=/; Max-Age=${lifeS}; HttpOnly; SameSite=Lax${secure}`;
    },
    check: (surface, cookies) =>
      (cookies ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${cookieName}=`))
        .some((pair) => isGood(surface, pair.slice(cookieName.length + 1))),
  };
};
