/**
 * Address of a world host's API server: `http://<IP address>:<port>`, in the canonical spelling of the IP address.
 * Names, other spellings of numbers, paths, queries and users are rejected. Otherwise an address that one program has
 * checked could lead another program to a different place.
 */
import { isIP } from 'node:net';

/** Parts of an address; `ip` has no brackets. */
export type HostAddress = { ip: string; port: number };

/** API port of hosts that have a network of their own: containers and pods. */
export const containerApiPort = 8080;

/**
 * Ways in which the address of a host becomes known; the driver of the host's runtime chooses one.
 *
 * - `assigned`: the runtime assigns the address, and only the driver may report it.
 * - `loopback`: the host reports the address. It is on 127.0.0.1, with a port that the host chose.
 * - `own_ip`: the host reports the address. It is the IP address that the host sends its requests from, with the port
 *   `containerApiPort`.
 */
export const hostAddressings = ['assigned', 'loopback', 'own_ip'] as const;
export type HostAddressing = (typeof hostAddressings)[number];

const form = /^http:\/\/(?:([\d.]{7,15})|\[([\da-f:]{2,39})\]):([1-9]\d{0,4})$/;

/**
 * Returns true for an IPv4 address written as IPv6. It would be unclear which network rules apply to such an address.
 */
const isMapped = (ip: string): boolean => ip.startsWith('::') && ip !== '::1';

/** Parses an address; undefined if the text does not have the form. */
export const readHostAddress = (text: string): HostAddress | undefined => {
  const [, four, six, digits] = form.exec(text) ?? [];
  const ip = four ?? six ?? '';
  const port = Number(digits);
  if (isIP(ip) === 0 || isMapped(ip) || port > 65_535) return undefined;
  const usual = URL.parse(text)?.hostname;
  return usual === (six === undefined ? ip : `[${ip}]`) ? { ip, port } : undefined;
};

/**
 * Returns the peer address of a connection in the form of `HostAddress`: without a zone, and IPv4 addresses in IPv4
 * form.
 */
export const plainIp = (address: string): string =>
  address.replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*$/, '');
