/**
 * Decides which IP addresses are public. Ranges with a special purpose (this machine, this network, tunnels,
 * documentation, tests) are refused with that purpose as the reason. Unassigned ranges are refused as well.
 */
import ipaddr from 'ipaddr.js';

/** Readable names for the ranges of the `ipaddr` library. */
const classes: Readonly<Record<string, string>> = {
  unspecified: 'unspecified',
  broadcast: 'broadcast',
  multicast: 'multicast',
  linkLocal: 'link-local',
  loopback: 'loopback',
  carrierGradeNat: 'shared (carrier-grade NAT)',
  private: 'private',
  uniqueLocal: 'unique local',
  deprecatedSiteLocal: 'site-local',
  ipv4Mapped: 'an IPv4 address mapped into IPv6',
  rfc6145: 'an IPv4 address translated into IPv6',
  rfc6052: 'an IPv4 address behind NAT64',
  '6to4': 'a 6to4 tunnel',
  teredo: 'a Teredo tunnel',
  benchmarking: 'for benchmarks',
  discard: 'discard-only',
  amt: 'for multicast tunnels',
  as112: 'for reverse DNS of private addresses',
  as112v6: 'for reverse DNS of private addresses',
  deprecatedOrchid: 'an overlay identifier',
  orchid2: 'an overlay identifier',
  droneRemoteIdProtocolEntityTags: 'an identifier of drones',
  segmentRouting: 'for segment routing',
  reserved: 'reserved',
};

/**
 * Networks that the library does not know, or knows only as a part of a wider range. The first network that contains
 * the address names its purpose.
 */
const named: readonly (readonly [network: string, what: string])[] = [
  ['169.254.169.254/32', "a cloud's metadata service"],
  ['169.254.170.2/32', "a cloud's metadata service"],
  ['100.100.100.200/32', "a cloud's metadata service"],
  ['192.0.0.192/32', "a cloud's metadata service"],
  ['168.63.129.16/32', "a cloud's metadata service"],
  ['fd00:ec2::254/128', "a cloud's metadata service"],
  ['fd20:ce::254/128', "a cloud's metadata service"],
  ['192.0.2.0/24', 'for documentation'],
  ['198.51.100.0/24', 'for documentation'],
  ['203.0.113.0/24', 'for documentation'],
  ['2001:db8::/32', 'for documentation'],
  ['3fff::/20', 'for documentation'],
  ['198.18.0.0/15', 'for benchmarks'],
  ['192.88.99.0/24', 'a 6to4 relay'],
];

const namedNetworks = named.map(([network, what]) => ({
  network: ipaddr.parseCIDR(network),
  what,
}));

/** Range of IPv6 addresses that is assigned to unicast on the internet. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

const classOf = (address: ipaddr.IPv4 | ipaddr.IPv6): string | undefined => {
  const known = namedNetworks.find(
    ({ network: [base, bits] }) =>
      address.kind() === base.kind() && address.match([base, bits] as never),
  );
  if (known !== undefined) return known.what;
  const range = address.range();
  if (range !== 'unicast') return classes[range] ?? range;
  const isAssigned = address instanceof ipaddr.IPv4 || address.match(globalUnicast);
  return isAssigned ? undefined : 'not assigned to the internet';
};

/**
 * Returns why nothing is sent to an address, as the rest of "this address is …"; undefined for a public one. Text that
 * is not an address in its usual form (four decimal numbers, or IPv6 without a zone) is refused as well.
 */
export const refusalOfAddress = (text: string): string | undefined => {
  if (text.includes('%')) return 'in a zone of this machine';
  const isIPv4 = ipaddr.IPv4.isValidFourPartDecimal(text);
  if (!isIPv4 && !(text.includes(':') && ipaddr.IPv6.isValid(text))) return 'no IP address';
  return classOf(ipaddr.parse(text));
};
