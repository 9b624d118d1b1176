/**
 * Returns how a host is addressed. Drivers report the addressing with `registerHost`, except drivers of the previous
 * release. For a host that such a driver registered, the addressing is derived here, and only here, from the driver's
 * name.
 */
import type { HostAddressing } from '#domain/host-address.ts';

/** Addressing of hosts whose driver belongs to the previous release. No new driver is added here. */
const previousAddressings: ReadonlyMap<string, HostAddressing> = new Map([
  ['process', 'loopback'],
  ['docker', 'assigned'],
  ['kubernetes', 'own_ip'],
]);

/** A host as it was registered: the name of its driver, and the addressing if the driver reported one. */
export type RegisteredHost = { runtime: string; addressing: HostAddressing | null };

/**
 * Returns how the host is addressed. If the driver is unknown, returns `assigned`, which gives a host the fewest
 * permissions.
 */
export const addressingOf = ({ runtime, addressing }: RegisteredHost): HostAddressing =>
  addressing ?? previousAddressings.get(runtime) ?? 'assigned';
