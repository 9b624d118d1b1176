/**
 * Whether a host may say that it is reached at an address. Where the runtime knows the address, its driver
 * alone tells it. Otherwise the host does, once: with its first report, before any code of a world has run in
 * it. From then on whoever speaks with its token may be that code.
 */
import type { HostState } from '#domain/host.ts';
import { containerApiPort, readHostAddress } from '#domain/host-address.ts';

/** What is known of a host that tells an address. */
export type AddressedHost = { runtime: string; state: HostState; address: string | null };

/** Why the runtime of a host rules an address out; undefined when it does not. */
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
 * Why a host may not say that it is reached at `told`; undefined when it may. `source` is where its report
 * comes from, where that is known to be its own address.
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
