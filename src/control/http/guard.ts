/**
 * Which hosts and origins requests to the MCP servers may name. A page in somebody's browser can have a name of its
 * own lead to an address that only that browser reaches (DNS rebinding); what it then sends names that page's host
 * and origin. So names are taken that the configuration has: those of the service itself and of its gateway, and
 * those that are listed. Addresses by number and this machine's own name are always taken: no name leads there.
 */
import { isIP } from 'node:net';
import { AppError } from '#domain/error.ts';
import type { SurfaceTemplate } from '#domain/surface-address.ts';

/** Throws `forbidden` for a request that names a host or an origin that is not allowed. */
export type Guard = (headers: { host?: string | undefined; origin?: string | undefined }) => void;

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
  return ({ host = '', origin }) => {
    if (!takesHost(nameOf(host))) {
      const message = `the host ${quoted(host)} is none of this service; SVC_ALLOWED_HOSTS names others that are`;
      throw new AppError('forbidden', message);
    }
    if (origin === undefined || takesOrigin(origin)) return;
    const message = `pages of ${quoted(origin)} may not call this server; SVC_ALLOWED_ORIGINS names those that may`;
    throw new AppError('forbidden', message);
  };
};
