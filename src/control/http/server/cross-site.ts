/**
 * Refuses what a page of another origin sends by the browser of a person who has credentials there.
 *
 * MCP servers: which hosts and origins requests may name. A page in a person's browser can have a name of its
 * own lead to an address that only that browser reaches (DNS rebinding); what it then sends names that page's host
 * and origin. So names are taken that the configuration has: those of the service itself and of its gateway, and
 * those that are listed. Addresses by number and this machine's own name are always taken: no name leads there.
 *
 * Writes: a browser adds the credentials that a person once typed in (`Basic`) to a form or a request without a body
 * that any page sends. `Sec-Fetch-Site` says so, and `Origin` does where a browser does not send that.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { AppError } from '#domain/error.ts';
import type { SurfaceTemplate } from '#domain/surface-address.ts';
import { isOtherSite } from '#runtime/fetch-site.ts';

export type Guard = {
  /** Throws `forbidden` for a request that names a host or an origin that is not allowed. */
  checkNames(headers: IncomingHttpHeaders): void;
  /** Throws `forbidden` for a request that a page of another origin sends, unless its origin is listed. */
  checkPage(headers: IncomingHttpHeaders): void;
};

export type Allowed = {
  /** Base address of the service, where one is configured. */
  publicUrl: string | null;
  gateway: { template: SurfaceTemplate } | null;
  /** Names of hosts, without a port. */
  hosts: readonly string[];
  /** `https://app.example.com`, with its port where it has one. */
  origins: readonly string[];
};

/** The name in `Host`, or of an origin, without its port and in lower case. */
const nameOf = (host: string): string => host.toLowerCase().replace(/:\d{1,5}$/, '');

const isOwnMachine = (name: string): boolean => {
  const plain = name.replace(/^\[|\]$/g, '');
  return plain === 'localhost' || plain.endsWith('.localhost') || isIP(plain) !== 0;
};

/** Returns true if the origin has this `Host`, by whichever scheme. */
const isAt = (origin: string, host: string): boolean =>
  URL.parse(origin)?.host === URL.parse(`${origin.split(':', 1)[0]}://${host}`)?.host;

const quoted = (given: string): string => JSON.stringify(given.slice(0, 200));

/** Makes the guard of one configuration. */
export const createGuard = ({ publicUrl, gateway, hosts, origins }: Allowed): Guard => {
  const own = publicUrl === null ? undefined : new URL(publicUrl);
  const names = new Set([...hosts.map(nameOf), ...(own === undefined ? [] : [own.hostname])]);
  const known = new Set([...origins.map((origin) => origin.toLowerCase()), own?.origin]);
  const suffix = gateway?.template.suffix;
  const takesHost = (name: string): boolean =>
    isOwnMachine(name) || names.has(name) || (suffix !== undefined && name.endsWith(suffix));
  const takesOrigin = (origin: string): boolean => {
    if (known.has(origin.toLowerCase())) return true;
    const url = URL.parse(origin);
    return url !== null && url.origin === origin.toLowerCase() && isOwnMachine(url.hostname);
  };
  return {
    checkNames({ host = '', origin }) {
      if (!takesHost(nameOf(host))) {
        const message = `the host ${quoted(host)} is none of this service; SVC_ALLOWED_HOSTS names others that are`;
        throw new AppError('forbidden', message);
      }
      if (origin === undefined || takesOrigin(origin)) return;
      const message = `pages of ${quoted(origin)} may not call this server; SVC_ALLOWED_ORIGINS names those that may`;
      throw new AppError('forbidden', message);
    },
    checkPage({ host = '', origin, 'sec-fetch-site': site }) {
      const isListed = origin !== undefined && known.has(origin.toLowerCase());
      // Without `Sec-Fetch-Site`, the origin's host is all that tells the service's own pages from others.
      const isOther =
        site === undefined ? origin !== undefined && !isAt(origin, host) : isOtherSite(site);
      if (!isOther || isListed) return;
      const sender =
        origin === undefined ? 'a page of another origin' : `a page of ${quoted(origin)}`;
      const message = `${sender} may not change anything here; SVC_ALLOWED_ORIGINS names those that may`;
      throw new AppError('forbidden', message);
    },
  };
};
