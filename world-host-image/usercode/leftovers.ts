/**
 * What a run left in its worker, as the system counts it: threads, whoever started them, memory and files.
 * Threads of a run must be gone when it ends; one that is just ending is given a moment.
 */
import { pause } from '#runtime/pause.ts';
import type { Channel } from './channel.ts';
import type { Usage } from './watch.ts';

/** Pauses between looks, longer each time; together some 30 ms. */
const pausesMs = [1, 2, 4, 8, 16];

export type Allowed = {
  /** Threads that the worker itself may have, and those that a run may. */
  threads: number;
  runThreads: number;
  /** Memory with which a worker may go on. */
  residentBytes: number;
};

/** Open files with which a worker may go on: half of what it may have (`svc_boundary/boundary.py`). */
const mostDescriptors = 128;

/** `crowd`: more threads than a run may have at all. `end`: its process ended meanwhile, or did what ended it. */
export type Leftovers = 'none' | 'threads' | 'crowd' | 'memory' | 'descriptors' | 'end';

const judge = (usage: Usage | undefined, allowed: Allowed): Leftovers => {
  if (usage === undefined) return 'none';
  if (usage.threads > allowed.runThreads) return 'crowd';
  if (usage.threads > allowed.threads) return 'threads';
  if (usage.descriptors > mostDescriptors) return 'descriptors';
  return usage.residentBytes > allowed.residentBytes ? 'memory' : 'none';
};

/** Looks at a worker whose run has ended. */
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
