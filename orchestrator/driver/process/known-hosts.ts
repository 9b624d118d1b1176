/**
 * The processes of hosts, for whoever asks several times a second. Among all processes of a machine they are looked for
 * only when folders of hosts were made or removed, when one that was found has ended, and now and then: another
 * orchestrator may have left some. Else those that were found are asked whether they still run.
 */
import { type FoundProcess, findHosts } from './host-process.ts';

/** What is there beside processes. */
export type Beside = {
  /** Hosts that have a folder. */
  folders: readonly string[];
  /** Hosts whose processes this program started and has not seen end. */
  children: readonly string[];
};

const lookEveryMs = 2_000;

type Look = { beganAt: number; folders: string; hosts: ReadonlyMap<string, FoundProcess> };

/** Makes it for an installation's hosts; `find` looks among all processes. */
export const createKnownHosts = (
  installation: string,
  find: typeof findHosts = findHosts,
  now: () => number = () => performance.now(),
) => {
  let last: Look | undefined;
  const isAsBefore = ({ beganAt, folders, hosts }: Look, beside: Beside, named: string): boolean =>
    now() - beganAt < lookEveryMs &&
    folders === named &&
    beside.children.every((hostId) => hosts.has(hostId)) &&
    [...hosts.values()].every((host) => host.stillRuns());
  return async (beside: Beside): Promise<ReadonlyMap<string, FoundProcess>> => {
    const named = beside.folders.toSorted().join();
    if (last !== undefined && isAsBefore(last, beside, named)) return last.hosts;
    const beganAt = now();
    last = { beganAt, folders: named, hosts: await find(installation) };
    return last.hosts;
  };
};
