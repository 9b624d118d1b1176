/**
 * What is under way to each session: requests and tunnels, bounded in number. Tunnels are known with
 * the host that they lead to, so that they end when the session is served there no longer.
 */

export type Visit = {
  /** Notes that the visit has become a tunnel, with the address that it leads to and what cuts it. */
  becomeTunnel(address: string, cut: () => void): void;
  leave(): void;
};

export type Visits = {
  /** Undefined when the session has as many as it may. */
  enter(sessionId: string): Visit | undefined;
  /** How many requests and tunnels are under way, and how many of these are tunnels. */
  counts(): { underWay: number; tunnels: number };
  /** Sessions with tunnels. */
  tunnelled(): string[];
  /** Cuts the session's tunnels that lead to none of these addresses. */
  cutTunnels(sessionId: string, exceptTo: readonly string[]): void;
};

type Tunnel = { address: string; cut: () => void };
type Stay = { tunnel: Tunnel | undefined };

/** Begins with nobody. */
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
