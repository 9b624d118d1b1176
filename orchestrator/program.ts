/**
 * The orchestrator: keeps a pool of world hosts on one container runtime as the control plane's view requires. Several
 * may run for one installation; the one with the lease works.
 *
 * This file only wires the parts: the loop is control-loop.ts, the decisions are plan.ts, the actions execute.ts.
 */
import { AppError } from '#domain/error.ts';
import type { Settings } from '#pools/settings.ts';
import type { Log } from '#runtime/log.ts';
import type { LoopBoard } from '#runtime/loop-board.ts';
import { pause } from '#runtime/pause.ts';
import type { Running } from '#runtime/run.ts';
import type { Tracer } from '#runtime/tracing.ts';
import type { Client } from '#wire/client.ts';
import type { LaunchesLine, LeadingLine } from '#wire/program-lines/lines.ts';
import type { Config } from './config.ts';
import { deadlines, startControlLoop } from './control-loop.ts';
import { type Duties, startLeadership } from './control-plane/leadership.ts';
import { createLeaseApi } from './control-plane/lease.ts';
import { createPoolApi, type PoolApi } from './control-plane/pool.ts';
import { limitsAfterGap, startReaper } from './control-plane/reaper.ts';
import type { Driver } from './driver/driver.ts';
import { createPoolMemory } from './learned/pool-memory.ts';
import { type Backgrounds, createBackgrounds } from './observe/background.ts';
import { createObserver, watchPool } from './observe/observe.ts';
import { shutDown } from './shut-down.ts';
import type { Metrics } from './signals/metrics.ts';
import { startPublishing } from './signals/publish.ts';

/** Time that a host may take to release a session, in milliseconds. */
const closingMs = 20_000;
/**
 * Time for which a stop waits for container steps in progress, in milliseconds; a successor adopts or removes the
 * remaining containers.
 */
const finishMs = 2_000;

export type OrchestratorParts = {
  config: Config;
  /** Returns the current pools and limits. */
  settings(): Settings;
  /** Returns why the latest configuration was refused, if it was. */
  refusal?(): string | undefined;
  /** Returns the text of the file that the settings come from. */
  poolsFile?(): string | undefined;
  /** Client of the pool API. */
  client: Client;
  driver: Driver;
  metrics: Metrics;
  tracer: Tracer;
  /** Status board with the state of the loops. */
  board: LoopBoard;
  log: Log;
  /** Writes a line for the process that started the program. */
  say(line: LeadingLine | LaunchesLine): void;
};

/** Starts everything that runs only while leading. */
const lead = (pool: PoolApi, parts: OrchestratorParts, backgrounds: Backgrounds): Running => {
  const { settings, driver, metrics, tracer, board, log, say } = parts;
  const { refusal = () => undefined, poolsFile: file = () => undefined } = parts;
  const nudge = (): void => control.nudge();
  const background = backgrounds.open(nudge);
  const memory = createPoolMemory({
    now: () => performance.now(),
    digestOf: (shape) => driver.digestOf(shape),
  });
  const observer = createObserver(pool, driver, background, Date.now);
  const pools = () => settings().pools;
  const execution = { pool, driver, memory, background, metrics, tracer, log, pools };
  const control = startControlLoop({
    observer,
    execution,
    background,
    log,
    onLaunches: (launches) => {
      log.warn(
        launches,
        launches.reason === undefined ? 'launches work again' : 'launches are held back',
      );
      say({ launches });
    },
  });
  const containers = driver.watch(nudge);
  const loops = [
    control,
    watchPool(pool, nudge, observer.restMs, log),
    startPublishing(pool, { statuses: memory.statuses, refusal, file }, log),
    startReaper(
      pool,
      () =>
        limitsAfterGap(
          { ...settings().sessions, closingMs },
          observer.steadyMs(),
          deadlines.heardMs,
        ),
      log,
    ),
  ];
  for (const loop of [...loops, ...containers.loops]) board.show(loop);
  metrics.showFrom(() => ({ isLeading: true, pools: control.status().last?.pools ?? [] }));
  say({ leading: true });
  return {
    async stop() {
      await Promise.all([...loops, containers].map((running) => running.stop()));
      backgrounds.release(background);
      // With `destroy`, the shutdown itself waits for the steps.
      if (parts.config.onStop === 'leave') {
        await Promise.race([background.finish(), pause(finishMs)]);
      }
      metrics.showFrom(() => ({ isLeading: false, pools: [] }));
      say({ leading: false });
    },
  };
};

/**
 * Starts to seek the lease. `stop` leaves the hosts running, or ends them all, as configured; it throws when it was to
 * end them and some may be left.
 */
export const startOrchestrator = (parts: OrchestratorParts): Running => {
  const { config, client, driver, log } = parts;
  const backgrounds = createBackgrounds(log);
  const duties: Duties = {
    lead: (lease, doubt) => lead(createPoolApi(client, lease, doubt), parts, backgrounds),
    onWait: () => parts.say({ leading: false }),
  };
  const leases = createLeaseApi(client, config.installation, config.holder);
  const leadership = startLeadership(leases, duties, log);
  parts.board.show(leadership.loop);
  let stopped: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    const lease = await leadership.halt();
    if (lease === undefined) {
      if (config.onStop === 'leave') return;
      const why = 'this orchestrator does not lead, so it has removed nothing';
      throw new AppError(
        'conflict',
        `${why}: another orchestrator leads, or the control plane does not answer`,
      );
    }
    try {
      if (config.onStop === 'destroy') {
        const onDeposed = () => log.warn('another orchestrator leads by now');
        const pool = createPoolApi(client, lease, onDeposed);
        await shutDown({ pool, driver, background: backgrounds, log });
      }
    } finally {
      await leadership.release(lease);
    }
  };
  return {
    stop() {
      stopped ??= end();
      return stopped;
    },
  };
};
