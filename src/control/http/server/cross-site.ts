/**
 * Refuses requests that a page of another origin sends through the browser of a person who has credentials. MCP
 * servers: the author of a page can point a host name to an address that only the visitor's browser reaches (DNS
 * rebinding). So requests may name only known hosts and origins: those of the service, those of its gateway, and
 * configured ones. IP addresses and `localhost` are always accepted, because DNS rebinding needs a name. Writes: once a
 * person has entered `Basic` credentials, the browser adds them to every form and every request without a body,
 * whichever page sends it. The header `Sec-Fetch-Site` says whether a page of another origin sends the request; older
 * browsers send `Origin` instead.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { AppError } from '#domain/error.ts';
import type { SurfaceTemplate } from '#domain/surface-address.ts';
import { isOtherSite } from '#runtime/fetch-site.ts';

export type Guard = {
  /** Throws `forbidden` for a request that names a host or an origin that is not allowed. */
  checkNames(headers: IncomingHttpHeaders): void;
  /**
   * Throws `forbidden` for a request that a page of another origin sends, unless that origin is listed in the
   * configuration.
   */
  checkPage(headers: IncomingHttpHeaders): void;
};

export type Allowed = {
  /** Base address of the service, if one is configured. */
  publicUrl: string | null;
  gateway: { template: SurfaceTemplate } | null;
  /** Allowed host names, without ports. */
  hosts: readonly string[];
  /** Allowed origins such as `https://app.example.com`, with the port if there is one. */
  origins: readonly string[];
};

/** Returns the host name of a `Host` header, without its port and in lower case. */
const nameOf = (host: string): string => host.toLowerCase().replace(/:\d{1,5}$/, '');

const isOwnMachine = (name: string): boolean => {
  const plain = name.replace(/^\[|\]$/g, '');
  return plain === 'localhost' || plain.endsWith('.localhost') || isIP(plain) !== 0;
};

/** Returns true if the host and port of the origin are those of the `Host` header, whatever the origin's scheme. */
const isAt = (origin: string, host: string): boolean =>
  URL.parse(origin)?.host === URL.parse(`${origin.split(':', 1)[0]}://${host}`)?.host;

const quoted = (given: string): string => JSON.stringify(given.slice(0, 200));

/** Creates the guard for the allowed hosts and origins of a configuration. */
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
        const message = `the host ${quoted(host)} is not a host of this service; the operator can allow it with SVC_ALLOWED_HOSTS`;
        throw new AppError('forbidden', message);
      }
      if (origin === undefined || takesOrigin(origin)) return;
      const message = `pages of ${quoted(origin)} may not call this server; the operator can allow them with SVC_ALLOWED_ORIGINS`;
      throw new AppError('forbidden', message);
    },
    checkPage({ host = '', origin, 'sec-fetch-site': site }) {
      const isListed = origin !== undefined && known.has(origin.toLowerCase());
      // Without `Sec-Fetch-Site`, only the origin's host distinguishes the service's own pages from foreign ones.
      const isOther =
        site === undefined ? origin !== undefined && !isAt(origin, host) : isOtherSite(site);
      if (!isOther || isListed) return;
      const sender =
        origin === undefined ? 'a page of another origin' : `a page of ${quoted(origin)}`;
      const message = `${sender} may not change anything here; the operator can allow its origin with SVC_ALLOWED_ORIGINS`;
      throw new AppError('forbidden', message);
    },
  };
};
