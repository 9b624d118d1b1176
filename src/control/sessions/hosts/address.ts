/**
 * Decides whether a host may report its own address. If the runtime assigns addresses, only the driver may report them.
 * Otherwise the host reports its address once, in its first report, before any code of a world has run in it. Once such
 * code has run, it may itself be the sender of requests with the host's token.
 */
import type { HostState } from '#domain/host.ts';
import {
  containerApiPort,
  type HostAddress,
  type HostAddressing,
  readHostAddress,
} from '#domain/host-address.ts';
import { addressingOf, type RegisteredHost } from '#wire/pool-api/addressing.ts';

/** Fields of a host on which the decision depends. */
export type AddressedHost = RegisteredHost & { state: HostState; address: string | null };

/** Returns why a host with this kind of addressing cannot have the address; undefined if it can have it. */
const faultOf = (
  addressing: HostAddressing,
  { ip, port }: HostAddress,
  source: string | undefined,
): string | undefined => {
  switch (addressing) {
    case 'assigned':
      return 'is assigned by its runtime, so only its driver may report it';
    case 'loopback':
      return ip === '127.0.0.1' ? undefined : 'is not on 127.0.0.1, where processes listen';
    case 'own_ip':
      if (port !== containerApiPort) return `does not have port ${containerApiPort}`;
      return source === undefined || ip === source
        ? undefined
        : `is not the one that its report comes from`;
  }
};

/**
 * Returns why a host may not report the given address; undefined if it may. `source` is the address from which the
 * report came; undefined unless it is known to be the host's own.
 */
export const addressFault = (
  host: AddressedHost,
  reported: string,
  source: string | undefined,
): string | undefined => {
  const addressing = addressingOf(host);
  if (host.address === reported && addressing !== 'assigned') return undefined;
  const parts = readHostAddress(reported);
  if (parts === undefined) return 'is not of the form http://<IP address>:<port>';
  const fault = faultOf(addressing, parts, source);
  if (fault !== undefined) return fault;
  if (host.address !== null) return 'is not the one that it reported first';
  return host.state === 'starting'
    ? undefined
    : 'comes too late: only its first report may contain it';
};
