/**
 * Sends several servers the same requests in turn, round after round, each round beginning with another server, so
 * that other work of the machine affects all alike.
 */
import { median } from './figure.ts';
import { type LoadRequest, type LoadTarget, loadFor, type Measured } from './host-load.ts';

/** Medians over the rounds of one server, with each round's requests a second. */
export type Rounds = {
  perSecond: number;
  rounds: number[];
  p50Ms: number;
  p99Ms: number;
  /** Processor time of the server and its workers for each request; null if it cannot be read. */
  cpuMicros: number | null;
};

type Load = { rounds: number; seconds: number; warmUpSeconds: number; connections?: number };

const summarise = (results: readonly Measured[]): Rounds => {
  const cpu = results.flatMap(({ cpuMicros }) => (cpuMicros === null ? [] : [cpuMicros]));
  return {
    perSecond: median(results.map(({ perSecond }) => perSecond)),
    rounds: results.map(({ perSecond }) => perSecond),
    p50Ms: median(results.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
    cpuMicros: cpu.length === 0 ? null : median(cpu),
  };
};

/** Measures each server with its own requests, after a warm-up. */
export const measureRounds = async <Server extends LoadTarget>(
  servers: readonly Server[],
  requestsOf: (server: Server) => readonly LoadRequest[],
  { rounds, seconds, warmUpSeconds, connections }: Load,
): Promise<(Rounds & { server: Server })[]> => {
  const measured = new Map(servers.map((server) => [server, [] as Measured[]]));
  const ask = (server: Server, forSeconds: number): Promise<Measured> =>
    loadFor(server, requestsOf(server), forSeconds, connections);
  for (const server of servers) await ask(server, warmUpSeconds);
  for (let round = 0; round < rounds; round += 1) {
    const first = round % servers.length;
    for (const server of [...servers.slice(first), ...servers.slice(0, first)]) {
      measured.get(server)?.push(await ask(server, seconds));
    }
  }
  return [...measured].map(([server, results]) => ({ server, ...summarise(results) }));
};
