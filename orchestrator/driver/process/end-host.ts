/** Ends all processes of a host: its process group, and the workers that left the group. */
import { until } from '#runtime/pause.ts';
import { findHosts, kill } from './host-process.ts';
import { isAlive, processesOfFolder } from './process-table.ts';

const endTimeoutMs = 10_000;

/** A host to end: its installation, id and folder. The folder identifies workers, see `process-table.ts`. */
export type EndedHost = { installation: string; hostId: string; folder: string };

/** Kills a host's group and its remaining workers; returns the processes that it killed. */
const killAll = async ({ installation, hostId, folder }: EndedHost): Promise<number[]> => {
  const leader = (await findHosts(installation)).get(hostId);
  const left = processesOfFolder(folder);
  if (leader !== undefined) kill(-leader.group);
  for (const pid of left) kill(pid);
  return leader === undefined ? left : [leader.group, ...left];
};

/**
 * Kills a host's processes until none is left. A search for processes is expensive on a machine with many of them. So
 * each search waits until the processes that the previous one found have ended.
 */
export const endHost = async (host: EndedHost): Promise<void> => {
  const endsAt = performance.now() + endTimeoutMs;
  for (;;) {
    const killed = await killAll(host);
    if (killed.length === 0) return;
    await until(() => !killed.some(isAlive), {
      timeoutMs: endsAt - performance.now(),
      what: `the end of host ${host.hostId}'s processes`,
    });
  }
};
