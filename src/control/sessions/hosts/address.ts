/**
 * Decides if a host may report its own address. If the runtime knows the address, only its driver may set it.
 * Otherwise the host reports it once, with its first report, before any code of a world has run in it. From then on
 * that code may be the sender of requests with the host's token.
 */
import type { HostState } from '#domain/host.ts';
import { containerApiPort, readHostAddress } from '#domain/host-address.ts';

/** The fields of a host that the decision needs. */
export type AddressedHost = { runtime: string; state: HostState; address: string | null };

/** Returns why the host's runtime excludes an address; undefined if it does not. */
const ruledOut = (
  runtime: string,
  told: string,
  source: string | undefined,
): string | undefined => {
  const address = readHostAddress(told);
  if (address === undefined) return 'is not of the form http://<IP address>:<port>';
  if (runtime === 'process') {
    return address.ip === '127.0.0.1' ? undefined : 'is not on 127.0.0.1, where processes listen';
  }
  if (runtime !== 'kubernetes') return `is for the ${runtime} driver alone to tell`;
  if (address.port !== containerApiPort) return `has another port than that of pods`;
  if (source !== undefined && address.ip !== source) return `is not where its report comes from`;
  return undefined;
};

/**
 * Returns why a host may not report the given address; undefined if it may. `source` is where its report comes from,
 * if that is known to be the host's own.
 */
export const addressFault = (
  { runtime, state, address }: AddressedHost,
  told: string,
  source: string | undefined,
): string | undefined => {
  if (address === told && runtime !== 'docker') return undefined;
  const fault = ruledOut(runtime, told, source);
  if (fault !== undefined) return fault;
  if (address !== null) return `is not the one that it told first`;
  return state === 'starting'
    ? undefined
    : `comes too late: it had to be told with the first report`;
};
