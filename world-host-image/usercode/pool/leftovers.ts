/**
 * Finds what a run left in its worker, as measured by the system: threads of any origin, memory and open files. A run's
 * threads must have ended with the run; a thread that is just ending gets a short time to end.
 */
import { pause } from '#runtime/pause.ts';
import type { Channel } from '../boundary/channel.ts';
import type { Usage } from '../boundary/watch.ts';

/** Pauses between samples, in milliseconds. Each is longer than the last; together they take about 30 ms. */
const pausesMs = [1, 2, 4, 8, 16];

export type Allowed = {
  /**
   * Maximum number of threads that the worker itself may have. The next field is the maximum number that it may have
   * with the threads of a run.
   */
  threads: number;
  runThreads: number;
  /** Maximum resident memory, in bytes, with which a worker may continue. */
  residentBytes: number;
};

/** Maximum number of open files with which a worker may continue: half of its limit (`svc_boundary/boundary.py`). */
const mostDescriptors = 128;

/**
 * Leftovers of a run that were found in its worker. `crowd`: more threads than a run may have at all. `end`: the
 * process ended meanwhile, or did something for which the host kills it.
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
