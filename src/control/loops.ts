/**
 * Starts the background loops of a control plane from one table. Each replica runs all of them. They share their work
 * through the database: no two replicas work on one job, and another replica continues the job if this one dies.
 */
import type { Loop } from '#runtime/loop.ts';
import { startDatasetRuns } from './evaluation/dataset-runs/world-run-loop.ts';
import { startRuns } from './evaluation/test-runs/engine.ts';
import { startRollups } from './observability/metrics/rollup-loop.ts';
import { startSessionTraces } from './observability/session-traces/loop.ts';
import type { Parts } from './parts.ts';
import { startGivingUp } from './sessions/webhooks/pushes.ts';
import { startImports } from './worlds/data/imports.ts';

type Started = { loop: Loop<unknown>; stop(): Promise<void> };

type BackgroundLoop = {
  /** Description for the log, as a sentence without its subject. */
  does: string;
  start(parts: Parts): Started | Promise<Started>;
};

/** Wraps a loop that needs no cleanup beyond its own `stop`. */
const asStarted = (loop: Loop<unknown>): Started => ({ loop, stop: () => loop.stop() });

/** Loops in the order in which they start. They stop in reverse order. */
const backgroundLoops: readonly BackgroundLoop[] = [
  { does: 'imports batches of rows into new versions of worlds', start: startImports },
  { does: 'runs the tests of worlds and the proofs of tasks', start: startRuns },
  {
    does: 'records deliveries of webhooks whose sender died before it reported them',
    start: (parts) => asStarted(startGivingUp(parts)),
  },
  {
    does: 'writes traces of sessions from their ledgers, calls and grades',
    start: (parts) => asStarted(startSessionTraces(parts)),
  },
  {
    does: 'builds the daily rollups of telemetry, one quiet day at a time',
    start: (parts) => asStarted(startRollups(parts)),
  },
  {
    does: 'opens sessions for the items of dataset runs, and links and closes graded ones',
    start: startDatasetRuns,
  },
];

/** Starts all background loops and returns them in order; `stack` stops them in reverse order. */
export const startLoops = async (
  parts: Parts,
  stack: AsyncDisposableStack,
): Promise<Loop<unknown>[]> => {
  const loops: Loop<unknown>[] = [];
  for (const { does, start } of backgroundLoops) {
    const started = await start(parts);
    stack.defer(() => started.stop());
    parts.log.debug({ loop: started.loop.status().name, does }, 'background loop started');
    loops.push(started.loop);
  }
  return loops;
};
