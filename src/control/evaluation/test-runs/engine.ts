/**
 * Claims test runs and proofs and has them executed, up to a fixed number at once. A replica that queues a run sends a
 * notification. In addition the loop polls, also for runs whose worker died. A claim picks a run of the project with
 * the fewest runs under way.
 */
import { type Loop, startLoop } from '#runtime/loop.ts';
import { type ClaimedRun, claimRun } from '../../db/worlds/test-runs.ts';
import type { Parts } from '../../parts.ts';
import { runsTopic } from '../../platform/notifications/notifications.ts';
import { carryOut } from './carry-out.ts';

export type Runs = {
  loop: Loop<number>;
  /** Releases the runs under way, so that other workers can take them over. */
  stop(): Promise<void>;
};

const lookEveryMs = 1_000;
/** Runs executed at once; each waits for its host most of the time. */
const atOnce = 8;

/** Starts the loop. Stopping it waits for the jobs under way. */
export const startRuns = (parts: Parts): Runs => {
  const { db, log, notifications } = parts;
  const stopping = new AbortController();
  const jobs = new Set<Promise<void>>();
  const isStopping = (): boolean => stopping.signal.aborted || notifications.closed;

  const begin = (run: ClaimedRun): void => {
    const job = carryOut(parts, run, stopping.signal)
      .catch((err: unknown) => log.warn({ err, run: run.id }, 'a run broke off'))
      .finally(() => {
        jobs.delete(job);
        loop.nudge();
      });
    jobs.add(job);
  };

  const tick = async (): Promise<number> => {
    while (jobs.size < atOnce && !isStopping()) {
      const claimed = await claimRun(db);
      if (claimed === undefined) break;
      begin(claimed);
    }
    return jobs.size;
  };
  const loop = startLoop({ name: 'runs', everyMs: lookEveryMs, tick, log });
  const watch = notifications.watch(runsTopic);
  const hear = async (): Promise<void> => {
    while (!isStopping()) {
      const { told } = await watch.next(60_000, stopping.signal);
      if (told) loop.nudge();
    }
    watch.end();
  };
  const hearing = hear();
  return {
    loop,
    async stop() {
      stopping.abort();
      await Promise.all([loop.stop(), hearing, ...jobs]);
    },
  };
};
