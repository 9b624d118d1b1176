/**
 * Finds what a run left in its worker, as measured by the system: threads of any origin, memory and open files. A
 * run's threads must have ended with it; a thread that is just ending is given a moment.
 */
import { pause } from '#runtime/pause.ts';
import type { Channel } from '../boundary/channel.ts';
import type { Usage } from '../boundary/watch.ts';

/** Pauses between samples, each longer than the last; together some 30 ms. */
const pausesMs = [1, 2, 4, 8, 16];

export type Allowed = {
  /** Maximum number of threads that the worker itself may have, and below it the maximum with those of a run. */
  threads: number;
  runThreads: number;
  /** Memory with which a worker may continue. */
  residentBytes: number;
};

/** Number of open files with which a worker may continue: half of its limit (`svc_boundary/boundary.py`). */
const mostDescriptors = 128;

/**
 * Finding about a worker. `crowd`: more threads than a run may have at all. `end`: the process ended meanwhile, or did
 * something that makes the host kill it.
 */
export type Leftovers = 'none' | 'threads' | 'crowd' | 'memory' | 'descriptors' | 'end';

const judge = (usage: Usage | undefined, allowed: Allowed): Leftovers => {
  if (usage === undefined) return 'none';
  if (usage.threads > allowed.runThreads) return 'crowd';
  if (usage.threads > allowed.threads) return 'threads';
  if (usage.descriptors > mostDescriptors) return 'descriptors';
  return usage.residentBytes > allowed.residentBytes ? 'memory' : 'none';
};

/** Samples a worker whose run has ended. */
export const findLeftovers = async (
  channel: Pick<Channel, 'usage' | 'isOpen'>,
  allowed: Allowed,
): Promise<Leftovers> => {
  let found = judge(channel.usage(), allowed);
  for (const ms of pausesMs) {
    if (found !== 'threads') break;
    await pause(ms);
    found = channel.isOpen() ? judge(channel.usage(), allowed) : 'end';
  }
  return found;
};
