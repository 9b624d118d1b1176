/**
 * Loops over jobs in the database, which all replicas share. A loop claims jobs and runs them, up to a fixed number at
 * the same time. A replica that queues a job notifies the topic of the loop. The loop also polls, for example to find
 * jobs whose worker died.
 */
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { Notifications } from './notifications.ts';

type Hears = Pick<Notifications, 'watch' | 'closed'>;

const pollMs = 1_000;
/** Maximum wait for one notification, in milliseconds; then the loop waits again. */
const watchMs = 60_000;

/** Wakes the loop at every notification of the topic, until the signal aborts or notifications are closed. */
export const nudgeOn = async (
  notifications: Hears,
  topic: string,
  loop: Pick<Loop<unknown>, 'nudge'>,
  signal: AbortSignal,
): Promise<void> => {
  const watch = notifications.watch(topic);
  while (!signal.aborted && !notifications.closed) {
    const { isNotified } = await watch.next(watchMs, signal);
    if (isNotified) loop.nudge();
  }
  watch.end();
};

export type ClaimLoop<Job> = {
  /** Name of the loop in logs and in the status of the program. */
  name: string;
  /** Topic of the notification that a job was queued. */
  topic: string;
  /** Maximum number of jobs that run in this process at the same time. */
  most: number;
  /** Claims the next job. Returns undefined if there is none. */
  claim(): Promise<Job | undefined>;
  /** Runs a job. The signal aborts when the loop stops. Must not throw. */
  run(job: Job, signal: AbortSignal): Promise<void>;
};

/** Loop that has been started. Its status is the number of running jobs. Stopping the loop waits for them. */
export type ClaimLoopRunning = { loop: Loop<number>; stop(): Promise<void> };

/** Starts the loop. */
export const startClaimLoop = <Job>(
  { notifications, log }: { notifications: Hears; log: Log },
  { name, topic, most, claim, run }: ClaimLoop<Job>,
): ClaimLoopRunning => {
  const stopping = new AbortController();
  const jobs = new Set<Promise<void>>();

  const begin = (claimed: Job): void => {
    const job = run(claimed, stopping.signal).finally(() => {
      jobs.delete(job);
      loop.nudge();
    });
    jobs.add(job);
  };

  const tick = async (): Promise<number> => {
    while (jobs.size < most && !stopping.signal.aborted && !notifications.closed) {
      const claimed = await claim();
      if (claimed === undefined) break;
      begin(claimed);
    }
    return jobs.size;
  };
  const loop = startLoop({ name, everyMs: pollMs, tick, log });
  const nudging = nudgeOn(notifications, topic, loop, stopping.signal);
  return {
    loop,
    async stop() {
      stopping.abort();
      await Promise.all([loop.stop(), nudging, ...jobs]);
    },
  };
};
