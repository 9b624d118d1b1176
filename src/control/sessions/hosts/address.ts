/**
 * Decides if a host may report its own address. If the runtime assigns the address, only the driver may report it.
 * Otherwise the host reports it once, with its first report, before any code of a world has run in it. From then on
 * that code may be the sender of requests with the host's token.
 */
import type { HostState } from '#domain/host.ts';
import {
  containerApiPort,
  type HostAddress,
  type HostAddressing,
  readHostAddress,
} from '#domain/host-address.ts';
import { addressingOf, type RegisteredHost } from '#wire/pool-api/addressing.ts';

/** The fields of a host that the decision needs. */
export type AddressedHost = RegisteredHost & { state: HostState; address: string | null };

/** Returns why a host of this addressing cannot have the address; undefined if it can. */
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
 * Returns why a host may not report the given address; undefined if it may. `source` is the source address of the
 * report, if it is known to be the host's own.
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
