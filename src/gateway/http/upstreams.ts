/**
 * Decides which addresses the gateway connects to, whatever a route contains. The gateway is inside the network and
 * acts for any client, so it must not become a proxy to other programs (SSRF). A host's IP address must be in a
 * configured network, its port must be configured, and the address must not be in a range that no host can have.
 */
import { BlockList, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { plainIp, readHostAddress } from '#domain/host-address.ts';

/** Network, parsed from a form such as `10.0.0.0/8`. */
export type Network = { ip: string; bits: number };
/** Range of ports, both ends included. */
export type Ports = { first: number; last: number };

/** Address of a host's listener, or of the control plane. Hosts serve plain HTTP. */
export type Upstream = { host: string; port: number; protocol?: 'https:' };

export type UpstreamRules = {
  networks: readonly Network[];
  ports: readonly Ports[];
  /**
   * Returns the addresses, as `http://host:port`, that are never hosts although they may be in a configured network:
   * those of the gateway itself and of the control plane.
   */
  others(): readonly string[];
};

export type Upstreams = {
  /** Returns the upstream of an address from a route, or why the gateway does not connect to it. */
  find(address: string): { upstream: Upstream } | { fault: string };
};

const familyOf = (ip: string): 'ipv4' | 'ipv6' => (isIPv6(ip) ? 'ipv6' : 'ipv4');

const listOf = (networks: readonly Network[]): BlockList => {
  const list = new BlockList();
  for (const { ip, bits } of networks) list.addSubnet(ip, bits, familyOf(ip));
  return list;
};

/** Parses a network; undefined if the text is not one. */
export const readNetwork = (text: string): Network | undefined => {
  const [, ip = '', digits = ''] = /^([\da-fA-F.:]+)\/(\d{1,3})$/.exec(text) ?? [];
  const network = { ip, bits: Number(digits) };
  try {
    listOf([network]);
    return network;
  } catch {
    return undefined; // not an address, or more bits than it has
  }
};

const networksOf = (...texts: string[]): BlockList =>
  listOf(texts.flatMap((text) => readNetwork(text) ?? []));

/**
 * Ranges that a host can never have: unspecified, link-local and cloud metadata, multicast and reserved, and
 * IPv4-in-IPv6 tunnels.
 */
const never = networksOf(
  ...['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4'],
  ...['100.100.100.200/32', '168.63.129.16/32', '192.0.0.0/24'],
  ...['::/128', 'fe80::/10', 'ff00::/8', 'fd00:ec2::/32', 'fd20:ce::/32'],
  ...['64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', '2001::/32'],
);
const loopback = networksOf('127.0.0.0/8', '::1/128');

const isIn = (list: BlockList, ip: string): boolean => list.check(ip, familyOf(ip));

/**
 * Returns every `address port` pair that a listener URL covers. A wildcard address covers all addresses of this
 * machine.
 */
const placesOf = (url: string): string[] => {
  const { hostname, port, protocol } = new URL(url);
  const ip = hostname.replace(/^\[|\]$/g, '');
  const number = port || (protocol === 'https:' ? '443' : '80');
  const isAny = ip === '0.0.0.0' || ip === '::';
  const own = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  const ips = isAny ? ['127.0.0.1', '::1', ...own.map(({ address }) => plainIp(address))] : [ip];
  return ips.map((one) => `${one} ${number}`);
};

/** Creates the check of addresses. Loopback is allowed only if a configured network lies within it. */
export const createUpstreams = ({ networks, ports, others }: UpstreamRules): Upstreams => {
  const isLocal = ({ ip, bits }: Network): boolean => isIn(loopback, ip) && bits >= 8;
  const local = listOf(networks.filter(isLocal));
  const named = listOf(networks.filter((network) => !isLocal(network)));

  let places: { of: number; known: ReadonlySet<string> } = { of: -1, known: new Set() };
  /**
   * Returns true if a program of the installation listens at the address. The list of listeners only grows, so a cache
   * of it is valid while its length is unchanged.
   */
  const isOther = (place: string): boolean => {
    const urls = others();
    if (urls.length !== places.of) {
      places = { of: urls.length, known: new Set(urls.flatMap(placesOf)) };
    }
    return places.known.has(place);
  };

  const faultOf = (ip: string, port: number): string | undefined => {
    if (isIn(never, ip)) return 'no host can have an address in this range';
    if (!isIn(isIn(loopback, ip) ? local : named, ip))
      return 'it is in no network of SVC_HOST_NETWORKS';
    if (!ports.some(({ first, last }) => first <= port && port <= last)) {
      return 'its port is not in SVC_HOST_PORTS';
    }
    return isOther(`${ip} ${port}`)
      ? 'it is the address of a program of the installation'
      : undefined;
  };

  return {
    find(address) {
      const found = readHostAddress(address);
      if (found === undefined) return { fault: 'it is not an IP address with a port' };
      const { ip, port } = found;
      const fault = faultOf(ip, port);
      return fault === undefined ? { upstream: { host: ip, port } } : { fault };
    },
  };
};
