/**
 * Tracks the open requests and tunnels of each session, and limits their number. Each tunnel is stored with the
 * address of its host, so that it can be cut when the session is no longer served there.
 */

export type Visit = {
  /** Records that the visit has become a tunnel to this address; calling `cut` closes the tunnel. */
  becomeTunnel(address: string, cut: () => void): void;
  leave(): void;
};

export type Visits = {
  /** Registers a request, and returns its visit; undefined if the session is at its limit. */
  enter(sessionId: string): Visit | undefined;
  /** Returns the number of open requests and tunnels together, and the number of tunnels alone. */
  counts(): { underWay: number; tunnels: number };
  /** Returns the sessions that have tunnels. */
  tunnelled(): string[];
  /** Closes the session's tunnels, except those that lead to one of the given addresses. */
  cutTunnels(sessionId: string, exceptTo: readonly string[]): void;
};

type Tunnel = { address: string; cut: () => void };
type Stay = { tunnel: Tunnel | undefined };

/** Creates the tracker of one gateway, without any visits. */
export const createVisits = (perSession: number): Visits => {
  const sessions = new Map<string, Set<Stay>>();
  const tunnelsOf = (sessionId: string): Tunnel[] =>
    [...(sessions.get(sessionId) ?? [])].flatMap(({ tunnel }) => tunnel ?? []);

  return {
    enter(sessionId) {
      const stays = sessions.get(sessionId) ?? new Set();
      if (stays.size >= perSession) return undefined;
      const stay: Stay = { tunnel: undefined };
      sessions.set(sessionId, stays.add(stay));
      return {
        becomeTunnel(address, cut) {
          stay.tunnel = { address, cut };
        },
        leave() {
          stays.delete(stay);
          if (stays.size === 0 && sessions.get(sessionId) === stays) sessions.delete(sessionId);
        },
      };
    },
    counts() {
      const stays = [...sessions.values()].flatMap((ofSession) => [...ofSession]);
      const tunnels = stays.filter(({ tunnel }) => tunnel !== undefined).length;
      return { underWay: stays.length, tunnels };
    },
    tunnelled: () => [...sessions.keys()].filter((id) => tunnelsOf(id).length > 0),
    cutTunnels(sessionId, exceptTo) {
      for (const { address, cut } of tunnelsOf(sessionId)) if (!exceptTo.includes(address)) cut();
    },
  };
};
