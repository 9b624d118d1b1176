/**
 * Claims test runs and proofs and executes them, up to a fixed number at once. The replica that queues a run sends a
 * notification. A claim picks a run of the project that has the fewest runs under way.
 */
import { claimRun } from '../../db/worlds/test-runs.ts';
import type { Parts } from '../../parts.ts';
import { type ClaimLoopRunning, startClaimLoop } from '../../platform/notifications/claim-loop.ts';
import { runsTopic } from '../../platform/notifications/notifications.ts';
import { carryOut } from './carry-out.ts';

/** Maximum number of runs executed at once; each of them mostly waits for its host. */
const atOnce = 8;

/** Starts the loop. Stopping it releases the runs under way, so that other workers can take them over. */
export const startRuns = (parts: Parts): ClaimLoopRunning => {
  const { db, log } = parts;
  return startClaimLoop(parts, {
    name: 'runs',
    topic: runsTopic,
    most: atOnce,
    claim: () => claimRun(db),
    run: (run, signal) =>
      carryOut(parts, run, signal).catch((err: unknown) =>
        log.warn({ err, run: run.id }, 'a run broke off'),
      ),
  });
};
