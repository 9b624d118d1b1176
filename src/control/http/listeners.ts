/**
 * The addresses of the control plane by what is served there: the public API, the host API, and the internal
 * APIs of orchestrators, gateways and operators. An address that is named for several serves all of theirs.
 */
import type { ListenAddress } from '#runtime/listen.ts';
import { type ListenerName, listenerNames } from '../config.ts';

/** Addresses that serve the same. */
export type ListenerGroup = { serves: readonly ListenerName[]; addresses: ListenAddress[] };

/** Each address once, with all that it serves; port 0 takes a free one each time. */
export const groupListeners = (
  wanted: Readonly<Record<ListenerName, readonly ListenAddress[]>>,
): ListenerGroup[] => {
  const served = new Map<string, { address: ListenAddress; serves: ListenerName[] }>();
  for (const name of listenerNames) {
    for (const [place, address] of wanted[name].entries()) {
      const { host, port } = address;
      const key = port === 0 ? `${name} ${place}` : `${host} ${port}`;
      const known = served.get(key) ?? { address, serves: [] };
      if (!known.serves.includes(name)) known.serves.push(name);
      served.set(key, known);
    }
  }
  const groups = Map.groupBy(served.values(), ({ serves }) => serves.join(' '));
  return [...groups.values()].map((members) => ({
    serves: members[0]?.serves ?? [],
    addresses: members.map(({ address }) => address),
  }));
};
