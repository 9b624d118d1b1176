/**
 * Cache of the processes of hosts, for callers that ask several times a second. It searches all processes of the
 * machine only in three cases: the set of host folders changed, a known process has ended, or an interval has passed,
 * since another orchestrator may have left processes. Otherwise it only checks that the known processes still run.
 */
import { type FoundProcess, findHosts } from './host-process.ts';

/** Evidence of hosts besides running processes. */
export type HostEvidence = {
  /** Hosts that have a folder. */
  folders: readonly string[];
  /** Hosts whose processes this program started and has not seen end. */
  children: readonly string[];
};

const searchEveryMs = 2_000;

type Search = { beganAt: number; folders: string; hosts: ReadonlyMap<string, FoundProcess> };

/** Creates the cache for an installation's hosts; `find` searches all processes. */
export const createKnownHosts = (
  installation: string,
  find: typeof findHosts = findHosts,
  now: () => number = () => performance.now(),
) => {
  let last: Search | undefined;
  const isAsBefore = (
    { beganAt, folders, hosts }: Search,
    evidence: HostEvidence,
    named: string,
  ): boolean =>
    now() - beganAt < searchEveryMs &&
    folders === named &&
    evidence.children.every((hostId) => hosts.has(hostId)) &&
    [...hosts.values()].every((host) => host.stillRuns());
  return async (evidence: HostEvidence): Promise<ReadonlyMap<string, FoundProcess>> => {
    const named = evidence.folders.toSorted().join();
    if (last !== undefined && isAsBefore(last, evidence, named)) return last.hosts;
    const beganAt = now();
    last = { beganAt, folders: named, hosts: await find(installation) };
    return last.hosts;
  };
};
