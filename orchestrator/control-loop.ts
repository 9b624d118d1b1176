/**
 * Keeps the pools at their size: observes, plans and executes once a second, and at once when a watcher or a finished
 * step wakes the loop. Each tick returns the status of the pools. When the reason why a pool's launches are held
 * changes, the loop reports it to the process that started the program.
 */
import { limits } from '#domain/limits.ts';
import type { PoolConfig } from '#pools/pool-config.ts';
import type { Log } from '#runtime/log.ts';
import { type Loop, startLoop } from '#runtime/loop.ts';
import type { PoolHost } from '#wire/pool-api/operations.ts';
import type { LaunchesLine } from '#wire/program-lines/lines.ts';
import type { Serving } from './driver/driver.ts';
import { type Causes, type ExecutorParts, executePlan } from './execute/execute.ts';
import type { PoolStatus } from './learned/pool-memory.ts';
import type { Background } from './observe/background.ts';
import type { Observer } from './observe/observe.ts';
import { bookWaiting } from './plan/booking.ts';
import { plan } from './plan/plan.ts';
import type { Deadlines, Observation, PlanSettings, PoolSettings } from './plan/terms.ts';
import type { PoolLook } from './signals/metrics.ts';

const tickMs = 1_000;

/** Deadlines for hosts in an abnormal state, in milliseconds, except `startingMs`, which each driver gives. */
export const deadlines: Omit<Deadlines, 'startingMs'> = {
  silentMs: limits.hostSilenceMs,
  heardMs: 15_000,
  recycleMs: 20_000,
  goodbyeMs: 20_000,
  intentMs: 10_000,
  troubleMs: 10_000,
  surplusMs: 60_000,
  unfitMs: 2_000,
  loadingMs: 250,
};

export type LoopStatus = {
  hosts: number;
  warm: number;
  waitingSessions: number;
  underWay: number;
  pools: PoolLook[];
};

export type ControlLoopParts = {
  observer: Observer;
  execution: ExecutorParts;
  background: Background;
  log: Log;
  /** Called when launches of a pool begin to fail, begin to fail for another reason, or succeed again. */
  onLaunches(launches: LaunchesLine['launches']): void;
};

/** Returns for each pool the session that waits longest; the launch for it becomes part of that session's trace. */
const causesOf = (observation: Observation, pools: readonly PoolSettings[]): Causes =>
  new Map(
    [...bookWaiting(observation, pools)].flatMap(([{ config }, { oldest }]) =>
      oldest === undefined ? [] : [[config.pool, oldest] as const],
    ),
  );

/**
 * Returns the hosts that serve a session, with its tier. A control plane of the previous release sends no tiers; then
 * the pool's tier counts.
 */
const servingOf = (
  hosts: readonly PoolHost[],
  pools: readonly PoolConfig[],
): Map<string, Serving> => {
  const tierOf = new Map(pools.map(({ pool, tier }) => [pool, tier]));
  const serving = hosts.filter(({ state }) => state === 'assigned');
  return new Map(
    serving.map(({ id, pool, serves, stateAgeMs: forMs }) => [
      id,
      { tier: serves ?? tierOf.get(pool) ?? 'standard', forMs },
    ]),
  );
};

const noHosts = { starting: 0, warm: 0, assigned: 0, recycling: 0, draining: 0, gone: 0 };

/** Adds to each pool's status the number of its hosts in each state. */
const lookAt = (statuses: readonly PoolStatus[], hosts: readonly PoolHost[]): PoolLook[] => {
  const looks = new Map(
    statuses.map((status) => [status.config.pool, { ...status, hosts: { ...noHosts }, fresh: 0 }]),
  );
  for (const { pool, state, versionId } of hosts) {
    const look = looks.get(pool);
    if (look === undefined) continue;
    look.hosts[state] += 1;
    if (state === 'warm' && versionId === null) look.fresh += 1;
  }
  return [...looks.values()];
};

const launchReporter = (onLaunches: ControlLoopParts['onLaunches']) => {
  let reported = new Map<string, string | undefined>();
  return (statuses: readonly PoolStatus[]): void => {
    for (const { config, launches } of statuses) {
      const { reason, ...rest } = launches;
      if (reason === reported.get(config.pool)) continue;
      onLaunches({ pool: config.pool, ...rest, ...(reason === undefined ? {} : { reason }) });
    }
    reported = new Map(statuses.map(({ config, launches }) => [config.pool, launches.reason]));
  };
};

/** Starts the loop at once. */
export const startControlLoop = (parts: ControlLoopParts): Loop<LoopStatus> => {
  const { observer, execution, background } = parts;
  const { memory, driver } = execution;
  const reportLaunches = launchReporter(parts.onLaunches);
  return startLoop({
    name: 'pools',
    everyMs: tickMs,
    log: parts.log,
    tick: async (signal) => {
      const observation = await observer.observe(signal);
      const { hosts, waiting } = observation.view;
      driver.arrange?.({ shapes: execution.pools(), serving: servingOf(hosts, execution.pools()) });
      const settings: PlanSettings = {
        pools: memory.learn(observation, execution.pools()),
        launchesAtOnce: driver.changesAtOnce,
        startsAtOnce: (node) => driver.startsAtOnce(node),
        destroysAtOnce: driver.changesAtOnce,
        deadlines: { ...deadlines, startingMs: driver.startingMs },
      };
      const actions = plan(observation, settings);
      memory.noteLaunches(actions);
      await executePlan(execution, actions, causesOf(observation, settings.pools));
      reportLaunches(memory.statuses());
      return {
        hosts: hosts.length,
        warm: hosts.filter((host) => host.state === 'warm').length,
        waitingSessions: waiting.reduce((sum, { count }) => sum + count, 0),
        underWay: background.busy.size,
        pools: lookAt(memory.statuses(), hosts),
      };
    },
  });
};
