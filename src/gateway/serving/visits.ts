/**
 * Tracks the open requests and tunnels of each session, and limits their number. Each tunnel is stored with the
 * address of its host, so that it can be cut when the session is no longer served there.
 */

export type Visit = {
  /** Marks the visit as a tunnel to this address; `cut` ends it. */
  becomeTunnel(address: string, cut: () => void): void;
  leave(): void;
};

export type Visits = {
  /** Registers a request; undefined if the session is at its limit. */
  enter(sessionId: string): Visit | undefined;
  /** Returns the number of open requests and tunnels, and that of tunnels alone. */
  counts(): { underWay: number; tunnels: number };
  /** Returns the sessions that have tunnels. */
  tunnelled(): string[];
  /** Cuts the session's tunnels that lead to none of these addresses. */
  cutTunnels(sessionId: string, exceptTo: readonly string[]): void;
};

type Tunnel = { address: string; cut: () => void };
type Stay = { tunnel: Tunnel | undefined };

/** Creates the counters; they begin empty. */
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
