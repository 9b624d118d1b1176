/**
 * Returns how a host is addressed. Drivers report it with `registerHost`, except those of the previous release. For
 * hosts that such a release registered, it is derived here, and only here, from the driver's name.
 */
import type { HostAddressing } from '#domain/host-address.ts';

/** Addressing of the drivers that the previous release had. No new driver is added here. */
const previousAddressings: ReadonlyMap<string, HostAddressing> = new Map([
  ['process', 'loopback'],
  ['docker', 'assigned'],
  ['kubernetes', 'own_ip'],
]);

/** A host as it was registered: the name of its driver, and the addressing that the driver reported, if any. */
export type RegisteredHost = { runtime: string; addressing: HostAddressing | null };

/** Returns how the host is addressed; `assigned`, which allows a host least, if the driver is unknown. */
export const addressingOf = ({ runtime, addressing }: RegisteredHost): HostAddressing =>
  addressing ?? previousAddressings.get(runtime) ?? 'assigned';
