/**
 * Where the API server of a world host is reached: `http://<IP address>:<port>`, spelled in the one way in
 * which that address is usually written. Names, other spellings of numbers, paths, queries and users have no
 * place in it: what one program has judged must not lead another somewhere else.
 */
import { isIP } from 'node:net';

/** An address taken apart; `ip` is without brackets. */
export type HostAddress = { ip: string; port: number };

/** The port of hosts that have a network of their own: containers and pods. */
export const containerApiPort = 8080;

const form = /^http:\/\/(?:([\d.]{7,15})|\[([\da-f:]{2,39})\]):([1-9]\d{0,4})$/;

/** An IPv4 address in the clothes of IPv6, of which it would be unclear which rules hold. */
const isMapped = (ip: string): boolean => ip.startsWith('::') && ip !== '::1';

/** Takes an address apart; undefined when it has another form. */
export const readHostAddress = (text: string): HostAddress | undefined => {
  const [, four, six, digits] = form.exec(text) ?? [];
  const ip = four ?? six ?? '';
  const port = Number(digits);
  if (isIP(ip) === 0 || isMapped(ip) || port > 65_535) return undefined;
  const usual = URL.parse(text)?.hostname;
  return usual === (six === undefined ? ip : `[${ip}]`) ? { ip, port } : undefined;
};

/** The address of a connection's other end, as `HostAddress` has it: IPv4 as such, without a zone. */
export const plainIp = (address: string): string =>
  address.replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*$/, '');
